// SPDX-License-Identifier: Apache-2.0
// Before a batch starts: refuses jobs that a program cannot run and jobs that would collide, and settles the
// options. Pure functions over plain data.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <weft/batch.hpp>
#include <weft/job.hpp>
#include <weft/program.hpp>

#include "base/span_set.hpp"
#include "plan/device/device_plan.hpp"
#include "plan/spirv/reflection.hpp"

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
    const FirstParameter* first_parameter = nullptr;  // null: not known
};

std::uint64_t job_bytes_in(const Job& job);
std::uint64_t job_bytes_out(const Job& job);

/// Errors: those of run_batch about one job; the text names job and span.
void check_job(const ProgramNeeds& program, const DeviceLimits& limits, const Job& job, std::uint64_t index);

/// Appends the memory of a job, for check_overlaps(); nothing for a job without elements.
void append_spans(const Job& job, std::uint64_t index, std::vector<JobSpan>& spans);
/// Refuses what find_overlap() finds. `spans` is sorted on return. Errors: invalid_argument.
void check_overlaps(std::vector<JobSpan>& spans);

/// Whether an output of a checked job is one of its inputs, so that the job cannot be repeated.
bool works_in_place(const Job& job);

/// Adds what another device did to `sum`. Times but wall_s add up; texts stay those of the first.
void add_report(BatchReport& sum, const BatchReport& one);

/// BatchOptions in which no choice is left open.
struct BatchSettings {
    BatchMode mode = BatchMode::pipelined;
    Path path = Path::automatic;
    bool split = false;
    bool stage_times = false;
    std::uint32_t slots = 3;
    std::uint64_t chunk_elements = 0;
    bool chunk_exact = false;
    std::uint64_t chunk_bytes = 0;  // not 0: chunks have exactly this size instead
    std::uint64_t total_bytes = 0;  // of the jobs known so far; chunk and bundle sizes depend on it
    TransferPlan transfer;

    bool cuts_exactly() const { return chunk_exact || chunk_bytes != 0; }
};

/// Errors: invalid_argument - options out of range; unsupported - a path the device cannot take.
BatchSettings settle_options(const DevicePlan& plan, const DeviceSnapshot& device,
                             const BatchOptions& options, std::uint64_t total_bytes);

}  // namespace weft::core
