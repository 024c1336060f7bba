// SPDX-License-Identifier: Apache-2.0
// The product |X Y^H|^2 of resident states, recorded on a stream.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <weft/buffer.hpp>
#include <weft/array.hpp>
#include <weft/stream.hpp>

#include "ops/kernel_matrix/gram_plan.hpp"

namespace weft::kernels {

/// A range of a buffer by bytes, whatever it holds.
struct GramRange {
    template <class T>
    GramRange(const BufferView<T>& view)
        : object(detail::Access::object(view)), first(view.first() * sizeof(T)), bytes(view.bytes()) {}
    template <class T>
    GramRange(const Buffer<T>& buffer) : GramRange(buffer.view()) {}
    std::shared_ptr<core::BufferObject> object;
    std::uint64_t first, bytes;
};

/// Factors of rows, float or (precision float64) double: that of the first row is number `first`.
struct GramFactors {
    GramRange range;
    std::uint64_t first = 0;
};

/// Packed rows: `rows` of them from row `first` of `planes` on.
struct GramRows {
    GramRange planes;
    std::uint64_t first = 0;  ///< a multiple of 64
    std::uint64_t rows = 0;
    /// What K is multiplied by where the problem is scaled; of both sides in one range.
    std::optional<GramFactors> factors{};
};

/// Where a block of K goes: element (i, j) of the block to element origin + i * leading + j of `range`.
/// With `mirror` also to mirror_origin + j * leading + i.
struct GramTarget {
    GramRange range;
    std::uint64_t leading = 0;
    std::uint64_t origin = 0;
    bool mirror = false;
    std::uint64_t mirror_origin = 0;
};

/// What the device can do, its matrix units judged by a small product with nearly equal rows. The judgement
/// is made once a device and driver in a process; it takes some milliseconds.
GramDevice gram_device(const Backend& backend);
GramDevice gram_device(const Stream& stream);
/// Without that judgement: a plan leaves matrix units out.
GramDevice gram_limits(const Backend& backend);
GramDevice gram_limits(const Stream& stream);

/// Programs and scratch of one plan. Used by one stream at a time.
class GramProduct {
  public:
    GramProduct(Backend& backend, const GramPlan& plan);
    /// The same on the device that `stream` records for.
    GramProduct(const Stream& stream, const GramPlan& plan);

    const GramPlan& plan() const noexcept { return plan_; }

    /// Packs `rows` row-major states of plan().problem.amplitudes each (complex64, or complex128 with
    /// precision float64) into rows [first, first + rows) of `planes`, padding to a multiple of 64 included.
    /// `first` is a multiple of 64.
    void pack(Stream& stream, const GramRange& states, std::uint64_t rows, const GramRange& planes,
              std::uint64_t first = 0);

    /// All of K of a problem that is not scaled. `y` is ignored where it is symmetric.
    void multiply(Stream& stream, const GramRange& x, const GramRange& y, const GramRange& out);
    /// A block: every x with every y.
    void multiply(Stream& stream, const GramRows& x, const GramRows& y, const GramTarget& target);
    /// A block on the diagonal: every x with every x, half of the work.
    void square(Stream& stream, const GramRows& x, const GramTarget& target);

  private:
    struct Tiles;
    template <class Owner>
    GramProduct(Owner& owner, const GramPlan& plan, int);
    void run(Stream& stream, const Tiles& tiles);

    GramPlan plan_;
    Program tile_;
    std::unique_ptr<Program> pack_;  ///< made when it is first needed
    std::unique_ptr<Program> reduce_;
    std::unique_ptr<Buffer<std::uint32_t>> scratch_;
};

}  // namespace weft::kernels
