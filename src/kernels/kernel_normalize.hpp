// SPDX-License-Identifier: Apache-2.0
// Normalisation of K by the states' own norms, on the device.
#pragma once

#include <weft/kernel_matrix.hpp>

#include "kernels/gram.hpp"
#include "kernels/kernel_plan.hpp"
#include "kernels/kernel_steps.hpp"

namespace weft::kernels {

/// A block of K: `rows` by `columns` of it, which are the states from `row` and `column` on.
struct KernelBlock {
    std::uint64_t row = 0, rows = 0, column = 0, columns = 0;
};

/// Factors of all states, and K times them: as KernelMatrixOptions::normalize asks, or only to take out what
/// rounding did to the norms of states that were built.
class Normalizer {
  public:
    Normalizer(const Stream& stream, const KernelPlan& plan, const KernelMatrixOptions& options);
    /// Factors of the `count` states of X or Y from `row` on.
    void take(Stream& stream, const Words& states, bool of_y, std::uint64_t row, std::uint64_t count);
    /// The block at element `origin` of `range`, `leading` elements from row to row.
    void scale(Stream& stream, const GramRange& range, std::uint64_t origin, std::uint64_t leading,
               const KernelBlock& block);

    /// Whether K is to be divided: KernelMatrixOptions::normalize. Else states are, when they are packed.
    bool scales() const noexcept { return scales_; }
    /// Those factors, from that of the state `row` of X or Y on.
    GramFactors factors(bool of_y, std::uint64_t row) const {
        return {factors_.view(), (of_y ? plan_.shape.samples : 0) + row};
    }

  private:
    const KernelPlan& plan_;
    double jitter_;
    bool scales_, set_diagonal_;
    Buffer<std::uint32_t> factors_;
};

}  // namespace weft::kernels
