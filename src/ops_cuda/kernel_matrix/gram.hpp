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
    std::uint64_t factor = 0;  ///< if the problem is scaled: the number of the first row's factor
};

/// K, and where a block of it goes.
struct GramTarget {
    std::byte* data = nullptr;
    kernels::GramPlace place;
};

class GramProduct {
  public:
    /// `factors`: floats, or (precision float64) doubles, of the rows of a scaled problem.
    GramProduct(StreamHandle stream, const kernels::GramPlan& plan, const std::byte* factors);

    /// Packs `rows` row-major states into rows [first, first + rows) of `planes`, with the padding to a
    /// multiple of 64.
    void pack(const std::byte* states, std::uint64_t rows, std::byte* planes, std::uint64_t first) const;
    /// Every x with every y.
    void multiply(const GramRows& x, const GramRows& y, const GramTarget& target) const;
    /// A block on the diagonal: every x with every x, for half of the work.
    void square(const GramRows& x, const GramTarget& target) const;

  private:
    void run(const GramRows& x, const GramRows& y, const GramTarget& target, bool square) const;

    StreamHandle stream_;
    const kernels::GramPlan& plan_;
    const std::byte* factors_;
    Scratch sums_;
};

}  // namespace weft::cuda
