// SPDX-License-Identifier: Apache-2.0
// Refuses lists of arrays that cannot be encoded as one batch, and says which array has a sample at fault.
// Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <weft/ops/encode.hpp>

namespace weft::kernels {

/// Checks every job as encode() checks its arrays, and the jobs with each other. Returns the values of a
/// sample. Errors: invalid_argument; texts name the job.
std::uint64_t check_encode_jobs(EncodeMethod method, std::span<const EncodeJob> jobs, std::uint32_t qubits);

std::uint64_t samples_of(std::span<const EncodeJob> jobs);

/// The samples that cannot be encoded, found by reading all values with up to `threads` threads.
std::vector<EncodeFailure> find_job_faults(EncodeMethod method, std::uint32_t qubits, std::uint64_t features,
                                           std::span<const EncodeJob> jobs, std::uint32_t threads);

/// Turns samples that are counted over all jobs into jobs and their samples. `failures` are in order.
void name_jobs(std::span<const EncodeJob> jobs, std::vector<EncodeFailure>& failures);

}  // namespace weft::kernels
