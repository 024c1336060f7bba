// SPDX-License-Identifier: Apache-2.0
// Refuses encodes that cannot run before anything touches a device, and names the samples that cannot be
// encoded.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <weft/ops/encode.hpp>

#include "ops/encode/encode_plan.hpp"

namespace weft::kernels {

/// Throws invalid_argument - "encode <method>: <what>".
[[noreturn]] void refuse_encode(EncodeMethod method, const std::string& what);

/// Checks types, qubits, samples and both counts, and returns the values of a sample. Errors:
/// invalid_argument.
std::uint64_t check_encode(EncodeMethod method, const StateShape& shape, EncodeTypes types,
                           std::uint64_t values, std::uint64_t states);

/// Checks the memory of an encode: null, alignment, overlap. Errors: invalid_argument.
void check_spans(const ConstHostArray& values, const HostArray& states);

/// Checks where resident states begin in their buffer. Errors: invalid_argument.
void check_alignment(const EncodePlan& plan, std::uint64_t first_amplitude);

/// Reads values in host memory with up to `threads` threads and returns every sample that cannot be encoded.
std::vector<EncodeFailure> find_faults(EncodeMethod method, std::uint32_t qubits, std::uint64_t features,
                                       const ConstHostArray& values, std::uint32_t threads);

/// Appends the failures in the status words (fault, position) of consecutive elements. 2^block_bits elements
/// make a sample, and `first` is the first sample.
void append_failures(std::vector<EncodeFailure>& failures, std::span<const std::uint32_t> status,
                     std::uint32_t block_bits, std::uint64_t first);

/// Throws an EncodeError if there are failures. `written`: all other states have been written. `batch`: the
/// text names jobs.
void require_no_failures(EncodeMethod method, std::vector<EncodeFailure> failures, bool written,
                         bool batch = false);

}  // namespace weft::kernels
