// SPDX-License-Identifier: Apache-2.0
// The product |X Y^H|^2 of states in CUDA device memory, put on a stream; as src/ops_vulkan/gram/gram.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/scratch.hpp"
#include "ops/kernel_matrix/gram_plan.hpp"

namespace weft::cuda {

/// Packed rows: `rows` of them from row `first`, a multiple of 64, of `planes` on.
struct GramRows {
    std::byte* planes = nullptr;
    std::uint64_t first = 0, rows = 0;
    std::uint64_t factor = 0;  ///< where the problem is scaled: of the first row, among the product's factors
};

/// Where a block of K goes: element (i, j) to element origin + i * leading + j of `data`, with `mirror` also
/// to mirror_origin + j * leading + i.
struct GramTarget {
    std::byte* data = nullptr;
    std::uint64_t leading = 0, origin = 0;
    bool mirror = false;
    std::uint64_t mirror_origin = 0;
};

class GramProduct {
  public:
    /// `factors`: floats, or (precision float64) doubles, of rows; of a scaled problem.
    GramProduct(StreamHandle stream, const kernels::GramPlan& plan, const std::byte* factors);

    /// Packs `rows` row-major states into rows [first, first + rows) of `planes`, padding to a multiple of 64
    /// included.
    void pack(const std::byte* states, std::uint64_t rows, std::byte* planes, std::uint64_t first) const;
    /// Every x with every y.
    void multiply(const GramRows& x, const GramRows& y, const GramTarget& target) const;
    /// A block on the diagonal: every x with every x, half of the work.
    void square(const GramRows& x, const GramTarget& target) const;

  private:
    struct Tiles;
    void run(const Tiles& tiles) const;

    StreamHandle stream_;
    const kernels::GramPlan& plan_;
    const std::byte* factors_;
    Scratch sums_;
};

}  // namespace weft::cuda
