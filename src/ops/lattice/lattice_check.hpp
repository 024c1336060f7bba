// SPDX-License-Identifier: Apache-2.0
// Refuses lattice calls that cannot run, and reads the statuses that a device left. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <weft/ops/lattice.hpp>

#include "ops/lattice/lattice_plan.hpp"

namespace weft::kernels {

/// Every member of a code. `function` opens the error text, here and below. Errors: invalid_argument.
void check_lattice_code(const char* function, const LatticeCode& code);

/// The memory of an argument, and its name in errors.
struct NamedSpan {
    const char* name;
    const void* data;
    std::size_t bytes;
};

/// Errors: invalid_argument - `got` elements where the shape needs `need`.
void check_size(const char* function, const char* name, const char* unit, std::size_t got, std::size_t need);

/// Errors: invalid_argument - a null with a length; an output that overlaps another span. With `in_place` the
/// first output may be exactly the first input.
void check_lattice_spans(const char* function, std::span<const NamedSpan> inputs,
                         std::span<const NamedSpan> outputs, bool in_place);

/// Reads all of `x` with up to `threads` threads. Errors: EncodeError with every row that is not finite; the
/// text names the lowest row and value.
void check_finite(const char* function, std::span<const float> x, std::size_t width, std::uint32_t threads);

/// The same for digits. Errors: EncodeError with every vector that has one out of range; `position` counts
/// its digits.
void check_digits(const char* function, const LatticeCode& code, std::span<const std::uint8_t> codes,
                  std::size_t vectors, std::uint32_t threads);

/// Totals of statuses.
struct StatusCount {
    std::uint64_t retried = 0, unresolved = 0, not_finite = 0;
    std::size_t first_not_finite = 0;
    std::uint32_t most_retries = 0;  // of vectors that are finite

    void add(const StatusCount& later);  // of the vectors behind these
};
/// Counts the vectors from `first` on. Indices are those in `status`.
StatusCount count_statuses(std::span<const std::uint8_t> status, std::uint32_t threads = 1,
                           std::size_t first = 0);
/// The same for statuses that will be decoded. Errors: EncodeError with every vector whose status no encoder
/// writes for `code`.
StatusCount check_statuses(const char* function, const LatticeCode& code,
                           std::span<const std::uint8_t> status, std::uint32_t threads);

/// The caller's statuses, or an array for the time of the call if there are none.
class Statuses {
  public:
    /// Errors: invalid_argument - a size other than `vectors`.
    Statuses(const char* function, std::span<std::uint8_t> given, std::size_t vectors);
    std::span<std::uint8_t> span() const { return span_; }

  private:
    std::unique_ptr<std::uint8_t[]> own_;
    std::span<std::uint8_t> span_;
};

/// Memory of lattice_encode and lattice_quantize on the host. `in_place`: `out` may be `x`. Errors:
/// invalid_argument.
void check_forward(const char* function, std::span<const float> x, const NamedSpan& out,
                   std::span<const std::uint8_t> status, bool in_place);

/// A call of lattice_decode on host memory that has been checked.
struct DecodeCall {
    LatticeShape shape;
    std::uint32_t depth = 0;
    bool retries = false;  ///< there are statuses
    StatusCount count;
};
/// Errors: as lattice_decode.
DecodeCall check_decode(const LatticeCode& code, std::span<const std::uint8_t> codes,
                        std::span<const std::uint8_t> status, std::span<const float> x,
                        const LatticeDecodeHostOptions& options, std::uint32_t threads);

/// The report of a call that is done; `count` has the totals of its statuses.
OpReport lattice_report(const char* function, const LatticeShape& shape, const StatusCount& count,
                        BatchReport batch);
/// The same of encode and quantize. Errors: EncodeError with the rows of `x` that were not finite. Where
/// quantize worked in place, such vectors are NaN now.
OpReport forward_report(const char* function, const LatticeShape& shape, std::span<const float> x,
                        const StatusCount& count, BatchReport batch);

}  // namespace weft::kernels
