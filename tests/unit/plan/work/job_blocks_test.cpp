// SPDX-License-Identifier: Apache-2.0
// How the jobs of a batch are cut among devices.
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "plan/work/job_blocks.hpp"

using namespace weft;
using core::BlockRules;
using core::JobBlocks;
using core::JobPart;

namespace {

constexpr std::uint64_t kBlock = JobBlocks::kElements;

DeviceLimits limits_of(std::uint64_t range = std::uint64_t{1} << 30) {
    DeviceLimits limits;
    limits.max_storage_buffer_range = range;
    limits.max_buffer_bytes = std::uint64_t{1} << 32;
    limits.max_workgroup_count[0] = 65535;
    limits.storage_buffer_offset_alignment = 16;
    return limits;
}

/// Jobs of 4 bytes in and out an element; the memory is never read.
std::vector<Job> jobs_of(const std::vector<std::uint64_t>& elements) {
    static std::uint32_t word = 0;
    std::vector<Job> jobs;
    for (const std::uint64_t n : elements)
        jobs.push_back(
            {.inputs = {InputSpan(&word, n * 4)}, .outputs = {OutputSpan(&word, n * 4)}, .elements = n});
    return jobs;
}

core::ProgramNeeds needs_of(const std::vector<Binding>& bindings) {
    return {.bindings = bindings, .elements_per_workgroup = 64};
}

}  // namespace

TEST_CASE("job blocks: small jobs are whole, large ones are cut at whole blocks") {
    const DeviceLimits limits = limits_of();
    const std::vector<Binding> bindings{{0, Access::read, "x", 4}, {1, Access::write, "y", 4}};
    const BlockRules rules{needs_of(bindings), &limits};
    const auto jobs = jobs_of({10, 0, kBlock, 2 * kBlock - 1, 2 * kBlock, 3 * kBlock + 5});
    const JobBlocks blocks(jobs, {&rules, 1});
    CHECK(blocks.count() == 1 + 1 + 1 + 1 + 2 + 3);
    CHECK(blocks.parts(0, blocks.count()) == std::vector<JobPart>{{0, 0, 10},
                                                                  {1, 0, 0},
                                                                  {2, 0, kBlock},
                                                                  {3, 0, 2 * kBlock - 1},
                                                                  {4, 0, 2 * kBlock},
                                                                  {5, 0, 3 * kBlock + 5}});
    CHECK(blocks.parts(5, 1) == std::vector<JobPart>{{4, kBlock, kBlock}});
    CHECK(blocks.parts(5, 2) == std::vector<JobPart>{{4, kBlock, kBlock}, {5, 0, kBlock}});
    CHECK(blocks.parts(8, 1) == std::vector<JobPart>{{5, 2 * kBlock, kBlock + 5}});
    CHECK(blocks.bytes({5, 0, kBlock}) == 8 * kBlock);
    CHECK(blocks.bytes({1, 0, 0}) == 0);
    CHECK(JobBlocks({}, {&rules, 1}).count() == 0);
}

TEST_CASE("job blocks: every way to take them covers every element once") {
    const DeviceLimits limits = limits_of();
    const std::vector<Binding> bindings{{0, Access::read, "x", 4}, {1, Access::write, "y", 4}};
    const BlockRules rules{needs_of(bindings), &limits};
    const auto jobs = jobs_of({5 * kBlock + 1, 3, 0, 2 * kBlock, 7});
    const JobBlocks blocks(jobs, {&rules, 1});
    for (std::uint64_t step = 1; step <= blocks.count(); ++step) {
        std::vector<std::uint64_t> next(jobs.size(), 0);
        for (std::uint64_t at = 0; at < blocks.count(); at += step)
            for (const JobPart& part : blocks.parts(at, std::min(step, blocks.count() - at))) {
                CHECK(part.first == next[part.job]);
                next[part.job] += part.count;
            }
        for (std::size_t j = 0; j < jobs.size(); ++j) CHECK(next[j] == jobs[j].elements);
    }
}

TEST_CASE("job blocks: a job that one of the devices cannot cut is one block") {
    const DeviceLimits limits = limits_of();
    const std::vector<Binding> small{{0, Access::read, "x", 4}, {1, Access::write, "y", 4}};
    // The fixed part of this block takes 2,000 elements of a chunk.
    const std::vector<Binding> large{{0, Access::read, "x", 8000}, {1, Access::write, "y", 4}};
    const std::vector<BlockRules> rules{{needs_of(small), &limits}, {needs_of(large), &limits}};
    const auto jobs = jobs_of({10 * kBlock});
    CHECK(JobBlocks(jobs, std::span(rules).first(1)).count() == 10);
    CHECK(JobBlocks(jobs, rules).count() == 1);
    // Chunks of at most 6 elements, but at least 4: some numbers of elements could not be cut.
    const DeviceLimits narrow = limits_of(24);
    const std::vector<Binding> vectors{{0, Access::read, "x", 16}, {1, Access::write, "y", 16}};
    const BlockRules tight{needs_of(vectors), &narrow};
    CHECK(JobBlocks(jobs, {&tight, 1}).count() == 1);
}

TEST_CASE("job blocks: jobs with large elements have smaller blocks") {
    const DeviceLimits limits = limits_of();
    const std::vector<Binding> bindings{{0, Access::read, "x", 4}, {1, Access::write, "y", 4}};
    const BlockRules rules{needs_of(bindings), &limits};
    std::uint32_t word = 0;
    const Job job{.inputs = {InputSpan(&word, 1000 * 2048)},
                  .outputs = {OutputSpan(&word, 1000 * 4)},
                  .elements = 1000};
    const JobBlocks blocks({&job, 1}, {&rules, 1});
    constexpr std::uint64_t kLarge = JobBlocks::kLargeElements;
    CHECK(blocks.count() == 3);
    CHECK(blocks.parts(1, 1) == std::vector<JobPart>{{0, kLarge, kLarge}});
    CHECK(blocks.parts(1, 2) == std::vector<JobPart>{{0, kLarge, 1000 - kLarge}});
}
