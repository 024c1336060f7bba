// SPDX-License-Identifier: Apache-2.0
#include "plan/work/chunking.hpp"

#include <algorithm>

#include "plan/work/workgroup_plan.hpp"

namespace weft::core {
namespace {

/// How many elements the spans of one direction allow: each binding has its range, and all spans share one
/// buffer of the slot.
class DirectionLimit {
  public:
    DirectionLimit(const DeviceLimits& limits, std::uint64_t elements)
        : limits_(limits), elements_(elements) {}
    void add(std::uint64_t bytes, bool broadcast) {
        fixed_ += std::max<std::uint64_t>(64, limits_.storage_buffer_offset_alignment);
        if (broadcast) {
            fixed_ += bytes;
        } else if (const std::uint64_t stride = bytes / elements_; stride != 0) {
            stride_ += stride;
            limit_ = std::min(limit_, limits_.max_storage_buffer_range / stride);
        }
    }
    std::uint64_t elements() const {
        if (stride_ == 0) return limit_;
        const std::uint64_t room = limits_.max_buffer_bytes - std::min(limits_.max_buffer_bytes, fixed_);
        return std::min(limit_, room / stride_);
    }

  private:
    const DeviceLimits& limits_;
    std::uint64_t elements_, fixed_ = 0, stride_ = 0, limit_ = ~std::uint64_t{0};
};

/// The largest chunk not above `limit` that cuts a job into equal chunks, so that no sliver is left at the
/// end. Whole multiples of 64 elements keep the chunks of any element size aligned.
std::uint64_t even_chunks(std::uint64_t elements, std::uint64_t limit) {
    constexpr std::uint64_t kMultiple = 64;
    if (elements <= limit || limit < kMultiple) return limit;
    const std::uint64_t whole = limit / kMultiple * kMultiple;
    const std::uint64_t chunks = (elements + whole - 1) / whole;
    const std::uint64_t even = (elements + chunks - 1) / chunks;
    return (even + kMultiple - 1) / kMultiple * kMultiple;
}

}  // namespace

Route choose_route(const BatchSettings& settings, const DeviceSnapshot& device, std::uint64_t bundle_bytes,
                   bool pinned) {
    const TransferPlan& t = settings.transfer;
    Path path = settings.path;
    if (path == Path::automatic)
        path = bundle_bytes <= t.small_bytes ? t.small : pinned ? t.large_pinned : t.large_ordinary;
    const bool unified = has_unified_memory(device);
    switch (path) {
        case Path::direct:
            return {path, false, !unified, false};
        case Path::host:
            return {path, false, false, false};
        case Path::imported:
            return {path, !unified, false, true};
        case Path::automatic:
        case Path::staged:
            break;
    }
    return {Path::staged, true, false, false};
}

std::uint64_t chunk_limit(const ProgramNeeds& program, const DeviceLimits& limits,
                          const BatchSettings& settings, const Job& job, bool copies) {
    std::uint64_t limit = settings.chunk_elements;
    const std::uint64_t bytes = job_bytes_in(job) + job_bytes_out(job);
    if (settings.chunk_bytes != 0 && bytes != 0)
        limit = std::clamp<std::uint64_t>(
            settings.chunk_bytes / std::max<std::uint64_t>(1, bytes / job.elements), 1, 0xffffffffu);
    if (copies && !settings.cuts_exactly() && settings.mode == BatchMode::pipelined && bytes != 0) {
        // Each hand-over from one queue to another leaves a gap on the bus, so chunks are large. taper()
        // makes the first and the last of a batch small.
        constexpr std::uint64_t kChunkBytes = std::uint64_t{48} << 20;
        const std::uint64_t target = std::max(kChunkBytes, settings.total_bytes / 64);
        limit = std::min(limit, target / std::max<std::uint64_t>(1, bytes / job.elements));
    }
    if (program.max_workgroups == 0) {
        const WorkgroupRule rule{program.elements_per_workgroup, 0, program.folds};
        // Elements are counted in 32 bits, so more workgroups than that need no product.
        limit = std::min(limit, std::max<std::uint64_t>(
                                    1, std::min<std::uint64_t>(most_workgroups(rule, limits), 0xffffffffu) /
                                           program.workgroups_per_element) *
                                    program.elements_per_workgroup);
    }
    // Indices of the last workgroup must not pass 32 bits either.
    if (job.elements > std::uint64_t{1} << 31) limit = std::min(limit, std::uint64_t{1} << 31);
    DirectionLimit in(limits, job.elements), out(limits, job.elements);
    for (const InputSpan& span : job.inputs) in.add(span.bytes, span.broadcast);
    for (const OutputSpan& span : job.outputs) out.add(span.bytes, false);
    limit = std::max<std::uint64_t>(1, std::min({limit, in.elements(), out.elements()}));
    return settings.cuts_exactly() ? limit : even_chunks(job.elements, limit);
}

std::uint64_t taper(std::uint64_t limit, std::uint64_t job_left, std::uint64_t element_bytes,
                    std::uint64_t started_bytes, std::uint64_t remaining_bytes) {
    constexpr std::uint64_t kLeastBytes = std::uint64_t{12} << 20, kMultiple = 64;
    if (element_bytes == 0) return std::min(limit, job_left);
    const std::uint64_t bytes = std::max(kLeastBytes, std::min(started_bytes, remaining_bytes / 2));
    std::uint64_t count = std::max<std::uint64_t>(1, bytes / element_bytes);
    if (count > kMultiple) count = count / kMultiple * kMultiple;
    count = std::min({count, limit, job_left});
    // Two halves are better than a whole chunk and a sliver.
    if (count < job_left && job_left - count < count / 2) {
        const std::uint64_t half = ((job_left + 1) / 2 + kMultiple - 1) / kMultiple * kMultiple;
        count = std::min(half, count);
    }
    return count;
}

std::uint64_t bundle_limit(const BatchSettings& settings) {
    if (settings.mode == BatchMode::sequential) return 0;
    return std::min(settings.transfer.bundle_bytes, settings.total_bytes / 4);
}

}  // namespace weft::core
