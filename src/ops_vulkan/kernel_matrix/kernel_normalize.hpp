// SPDX-License-Identifier: Apache-2.0
// Normalisation of K by the states' own norms, on the device.
#pragma once

#include <weft/ops/kernel_matrix.hpp>

#include "ops/kernel_matrix/kernel_plan.hpp"
#include "ops/kernel_matrix/tile_pairs.hpp"
#include "ops_vulkan/gram/gram.hpp"
#include "ops_vulkan/kernel_matrix/kernel_angles.hpp"
#include "shaders/kernel_matrix/kernel_parameters.h"

namespace weft::kernels {

/// Factors of all states, and K times them: as KernelMatrixOptions::normalize asks, or only to take out what
/// rounding did to the norms of states that were built.
class Normalizer {
  public:
    Normalizer(const Stream& stream, const KernelMatrixPlan& plan, const KernelMatrixOptions& options);
    /// Factors of some rows: from row-major states, or from StatePlan::squares sums of squares of each.
    void take(Stream& stream, const Words& states, const StateRows& rows);
    void take_squares(Stream& stream, const Words& squares, const StateRows& rows);
    /// The block at element `origin` of `range`, `leading` elements from row to row.
    void scale(Stream& stream, const GramRange& range, std::uint64_t origin, std::uint64_t leading,
               const KernelBlock& block);

    /// Whether a pass of its own divides K: KernelMatrixOptions::normalize. Otherwise K is divided as it is made.
    bool scales() const noexcept { return scales_; }
    /// Those factors, from that of the state `row` of X or Y on.
    GramFactors factors(bool of_y, std::uint64_t row) const {
        return {factors_.view(), (of_y ? plan_.shape.samples : 0) + row};
    }

  private:
    shared::KernelNormParameters parameters(const StateRows& rows, std::uint64_t terms) const;

    const KernelMatrixPlan& plan_;
    double jitter_;
    bool scales_, set_diagonal_;
    Buffer<std::uint32_t> factors_;
};

}  // namespace weft::kernels
