// SPDX-License-Identifier: Apache-2.0
#include "plan/work/job_blocks.hpp"

#include <algorithm>

#include "plan/work/chunk_bounds.hpp"

namespace weft::core {
namespace {

/// Of the blocks of a job that has elements.
std::uint64_t block_elements(const Job& job) {
    constexpr std::uint64_t kLargeBytes = 1024;
    const bool large = (job_bytes_in(job) + job_bytes_out(job)) / job.elements > kLargeBytes;
    return large ? JobBlocks::kLargeElements : JobBlocks::kElements;
}

bool can_cut(const Job& job, std::span<const BlockRules> devices) {
    return std::all_of(devices.begin(), devices.end(), [&](const BlockRules& device) {
        // Every number of elements from half a block on can then be cut into chunks.
        const ChunkBounds bounds = chunk_bounds(device.program, *device.limits, job);
        return bounds.least <= block_elements(job) / 4 && bounds.most >= 2 * bounds.least;
    });
}

}  // namespace

JobBlocks::JobBlocks(std::span<const Job> jobs, std::span<const BlockRules> devices) : jobs_(jobs) {
    ends_.reserve(jobs.size());
    for (const Job& job : jobs) {
        const std::uint64_t blocks = job.elements != 0 ? job.elements / block_elements(job) : 0;
        const bool cut = blocks > 1 && can_cut(job, devices);
        ends_.push_back(count() + (cut ? blocks : 1));
    }
}

std::vector<JobPart> JobBlocks::parts(std::uint64_t first, std::uint64_t count) const {
    std::vector<JobPart> parts;
    const std::uint64_t last = first + count;
    auto job = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), first) - ends_.begin());
    for (std::uint64_t at = first; at < last; ++job) {
        const std::uint64_t begin = job == 0 ? 0 : ends_[job - 1], end = ends_[job];
        const std::uint64_t stop = std::min(end, last);
        const std::uint64_t block = end - begin == 1 ? 0 : block_elements(jobs_[job]);
        const std::uint64_t from = (at - begin) * block;
        const std::uint64_t to = stop == end ? jobs_[job].elements : (stop - begin) * block;
        parts.push_back({job, from, to - from});
        at = stop;
    }
    return parts;
}

std::uint64_t JobBlocks::bytes(const JobPart& part) const {
    const Job& job = jobs_[part.job];
    if (job.elements == 0) return 0;
    std::uint64_t bytes = job_bytes_out(job) / job.elements * part.count;
    for (const InputSpan& span : job.inputs)
        bytes += span.broadcast ? span.bytes : span.bytes / job.elements * part.count;
    return bytes;
}

std::uint64_t JobBlocks::bytes() const {
    std::uint64_t bytes = 0;
    for (const Job& job : jobs_) bytes += job_bytes_in(job) + job_bytes_out(job);
    return bytes;
}

}  // namespace weft::core
