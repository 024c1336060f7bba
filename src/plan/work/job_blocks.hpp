// SPDX-License-Identifier: Apache-2.0
// How a batch is cut among several devices: each job into blocks of elements. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <weft/device.hpp>
#include <weft/job.hpp>

#include "plan/work/batch_check.hpp"

namespace weft::core {

/// Elements [first, first + count) of a job.
struct JobPart {
    std::size_t job = 0;
    std::uint64_t first = 0, count = 0;
    bool operator==(const JobPart&) const = default;
};

/// What a device and its program allow.
struct BlockRules {
    ProgramNeeds program;
    const DeviceLimits* limits = nullptr;
};

class JobBlocks {
  public:
    /// Elements of a block, and of one whose elements are large. Blocks begin where every device can bind
    /// memory; the last of a job has up to twice as many. Jobs with chunks that must be longer are one block.
    static constexpr std::uint64_t kElements = 4096, kLargeElements = 256;

    /// `jobs` must outlive the object.
    JobBlocks(std::span<const Job> jobs, std::span<const BlockRules> devices);

    /// Blocks of all jobs; a job without elements is one.
    std::uint64_t count() const { return ends_.empty() ? 0 : ends_.back(); }
    /// The parts of jobs that the blocks [first, first + count) are.
    std::vector<JobPart> parts(std::uint64_t first, std::uint64_t count) const;
    /// Bytes that a part reads and writes, and those of all jobs.
    std::uint64_t bytes(const JobPart& part) const;
    std::uint64_t bytes() const;

  private:
    std::span<const Job> jobs_;
    std::vector<std::uint64_t> ends_;  // blocks up to the end of each job
};

}  // namespace weft::core
