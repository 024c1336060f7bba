// SPDX-License-Identifier: Apache-2.0
// The product |X Y^H|^2 of resident states, recorded on a stream.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <weft/array.hpp>
#include <weft/buffer.hpp>
#include <weft/stream.hpp>

#include "ops/kernel_matrix/gram_plan.hpp"

namespace weft::kernels {

/// A range of a buffer in bytes, whatever its elements are.
struct GramRange {
    template <class T>
    GramRange(const BufferView<T>& view)
        : object(detail::Access::object(view)), first(view.first() * sizeof(T)), bytes(view.bytes()) {}
    template <class T>
    GramRange(const Buffer<T>& buffer) : GramRange(buffer.view()) {}
    std::shared_ptr<core::BufferObject> object;
    std::uint64_t first, bytes;
};

/// Factors of rows, float or (precision float64) double. The factor of the first row is number `first`.
struct GramFactors {
    GramRange range;
    std::uint64_t first = 0;
};

/// Packed rows: `rows` of them from row `first` of `planes` on.
struct GramRows {
    GramRange planes;
    std::uint64_t first = 0;  ///< a multiple of 64
    std::uint64_t rows = 0;
    /// What K is multiplied by if the problem is scaled. Both sides have their factors in one range.
    std::optional<GramFactors> factors{};
};

/// K, or the memory that a block of it goes to.
struct GramTarget {
    GramRange range;
    GramPlace place;
};

/// Programs and scratch memory of one plan. Used by one stream at a time.
class GramProduct {
  public:
    /// `sums`: plan.scratch_bytes for a plan with split sums; without it the product makes them itself.
    GramProduct(const Stream& stream, const GramPlan& plan,
                std::optional<BufferView<std::uint32_t>> sums = std::nullopt);

    const GramPlan& plan() const noexcept { return plan_; }

    /// Packs `rows` row-major states (complex64, or complex128 with precision float64 unless it widens them)
    /// of plan().problem.amplitudes each into rows [first, first + rows) of `planes`, with the padding to a
    /// multiple of 64. `first` is a multiple of 64.
    void pack(Stream& stream, const GramRange& states, std::uint64_t rows, const GramRange& planes,
              std::uint64_t first = 0);

    /// A block: every x with every y. Errors: invalid_argument - packed rows that begin within 64, or more
    /// than the plan's; ranges that are too small, factors of a scaled problem among them; a leading
    /// dimension below the columns.
    void multiply(Stream& stream, const GramRows& x, const GramRows& y, const GramTarget& target);
    /// A block on the diagonal: every x with every x, for half of the work. Errors: as multiply.
    void square(Stream& stream, const GramRows& x, const GramTarget& target);

  private:
    void run(Stream& stream, const GramRows& x, const GramRows& y, const GramTarget& target,
             const GramBlock& block, bool square);

    GramPlan plan_;
    Program tile_;
    std::unique_ptr<Program> pack_;  ///< made when it is first needed
    std::unique_ptr<Program> reduce_;
    std::optional<BufferView<std::uint32_t>> sums_;
};

/// Digest of all shaders that multiply: measured tiles belong to these.
std::uint64_t gram_programs_digest();

}  // namespace weft::kernels
