// SPDX-License-Identifier: Apache-2.0
// Refuses lattice calls that cannot run, and reads what a device left in statuses. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <weft/ops/lattice.hpp>

#include "ops/lattice/lattice_plan.hpp"

namespace weft::kernels {

/// Every member of a code. `function` opens the error text, here and below. Errors: invalid_argument.
void check_lattice_code(const char* function, const LatticeCode& code);

/// Memory of one argument, for errors.
struct NamedSpan {
    const char* name;
    const void* data;
    std::size_t bytes;
};

/// `got` elements where the shape needs `need`. Errors: invalid_argument.
void check_size(const char* function, const char* name, const char* unit, std::size_t got, std::size_t need);

/// No null with a length; no output overlaps another span. `in_place`: the first output may be exactly the
/// first input. Errors: invalid_argument.
void check_lattice_spans(const char* function, std::span<const NamedSpan> inputs,
                         std::span<const NamedSpan> outputs, bool in_place);

/// Reads all of `x` with up to `threads` threads. Errors: EncodeError with every row that is not finite; the
/// text names the lowest row and value.
void check_finite(const char* function, std::span<const float> x, std::size_t width, std::uint32_t threads);

/// The same for digits. Errors: invalid_argument; the text names the lowest vector.
void check_digits(const char* function, const LatticeCode& code, std::span<const std::uint8_t> codes,
                  std::size_t vectors, std::uint32_t threads);

/// What statuses amount to.
struct StatusCount {
    std::uint64_t retried = 0, unresolved = 0, not_finite = 0;
    std::size_t first_not_finite = 0;
    std::uint32_t most_retries = 0;  // of those that are finite

    void add(const StatusCount& later);  // of vectors behind these
};
/// Counts the vectors from `first` on; indices are those in `status`.
StatusCount count_statuses(std::span<const std::uint8_t> status, std::uint32_t threads = 1,
                           std::size_t first = 0);
/// The same for statuses that are to be decoded. Errors: invalid_argument; the text names the lowest vector
/// with a status that no encoder gives for `code`.
StatusCount check_statuses(const char* function, const LatticeCode& code,
                           std::span<const std::uint8_t> status, std::uint32_t threads);

/// The report of a call that is done; `count`: of its vectors' statuses.
OpReport lattice_report(const char* function, const LatticeShape& shape, const StatusCount& count,
                        BatchReport batch);
/// The same of encode and quantize. Errors: invalid_argument - vectors that were not finite.
OpReport forward_report(const char* function, const LatticeShape& shape, const StatusCount& count,
                        BatchReport batch);

}  // namespace weft::kernels
