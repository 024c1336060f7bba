// SPDX-License-Identifier: Apache-2.0
// Refuses jobs that a program cannot run, and jobs that would collide. Pure functions over plain data.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <weft/device.hpp>
#include <weft/job.hpp>
#include <weft/program.hpp>

#include "base/span_set.hpp"

namespace weft::core {

/// What a program needs of its jobs.
struct ProgramNeeds {
    std::span<const Binding> bindings;
    std::uint32_t push_constant_bytes = 0;
    std::uint32_t elements_per_workgroup = 1;
    std::uint32_t max_workgroups = 0;
    const char* name = "";
    bool folds = false;  // workgroups may continue along y
    std::uint32_t workgroups_per_element = 1;
};

std::uint64_t job_bytes_in(const Job& job);
std::uint64_t job_bytes_out(const Job& job);

/// Errors: those of run_batch about one job; the text names job and span.
void check_job(const ProgramNeeds& program, const DeviceLimits& limits, const Job& job, std::uint64_t index);

/// Appends the memory of a job, for check_overlaps(); nothing for a job without elements.
void append_spans(const Job& job, std::uint64_t index, std::vector<JobSpan>& spans);
/// Refuses what find_overlap() finds. `spans` is sorted on return. Errors: invalid_argument.
void check_overlaps(std::vector<JobSpan>& spans);

}  // namespace weft::core
