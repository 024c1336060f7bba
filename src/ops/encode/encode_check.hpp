// SPDX-License-Identifier: Apache-2.0
// Refuses encodes that cannot run before anything touches a device, and names the samples of those that ran
// and failed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <weft/ops/encode.hpp>

#include "ops/encode/encode_plan.hpp"

namespace weft::kernels {

/// Types, qubits, samples and both counts against each other; returns values of a sample.
/// Errors: invalid_argument.
std::uint64_t check_encode(EncodeMethod method, const StateShape& shape, EncodeTypes types,
                           std::uint64_t values, std::uint64_t states);

/// Pointers and overlap of a streamed encode. Errors: invalid_argument.
void check_spans(const ConstHostArray& values, const HostArray& states);

/// Where resident states begin in their buffer. Errors: invalid_argument.
void check_alignment(const EncodePlan& plan, std::uint64_t first_amplitude);

/// Every sample of values in host memory that cannot be encoded, read with up to `threads` threads.
std::vector<EncodeFailure> find_faults(EncodeMethod method, std::uint32_t qubits, std::uint64_t features,
                                       const ConstHostArray& values, std::uint32_t threads);

/// The failures in status words (fault, position) of consecutive elements, of which 2^block_bits make a
/// sample; `first` is the sample of the first.
void append_failures(std::vector<EncodeFailure>& failures, std::span<const std::uint32_t> status,
                     std::uint32_t block_bits, std::uint64_t first);

/// Throws an EncodeError if there are failures. `written`: states have been written, all but the failed ones.
void require_no_failures(EncodeMethod method, std::vector<EncodeFailure> failures, bool written);

}  // namespace weft::kernels
