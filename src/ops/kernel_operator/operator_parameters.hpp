// SPDX-License-Identifier: Apache-2.0
// Parameters of the shaders of kernel operators from a plan. Pure. Arrays begin at element 0 of what is
// bound, where nothing else is said.
#pragma once

#include <cstdint>

#include "ops/kernel_operator/operator_plan.hpp"
#include "ops/kernel_operator/operator_states.hpp"

namespace weft::kernels {

/// Partial sums, which lie row by row.
struct SumTerms {
    std::uint64_t terms = 0;  ///< of a value
    std::uint64_t apart = 0;  ///< numbers between the terms of a value
    std::uint32_t width = 1;  ///< numbers of a row
    std::uint64_t skip_from = 0, skip_rows = 0;
};
/// out = alpha * (sum of the terms) + delta * V + beta * out.
struct SumFactors {
    double alpha = 1, delta = 0, beta = 0;
};
/// Factors of a sum of kernel values. `first`: of the first sum of an output, to which later ones add.
SumFactors sum_factors(const OperatorPlan& plan, const ApplySide& side, const KernelApplyOptions& options,
                       bool first) noexcept;
/// `columns`: of V that the sums have; `width`: values between rows of V and of the output.
shared::OperatorSumParameters sum_parameters(const OperatorPlan& plan, const SumTerms& terms,
                                             const SumFactors& factors, std::uint32_t columns,
                                             std::uint32_t width) noexcept;
/// Without the places of the totals.
shared::OperatorTotalParameters total_parameters(const SumTerms& terms, std::uint32_t columns,
                                                 std::uint32_t width) noexcept;
/// Without the places of the bound arrays. `leading`: values between rows of the block; `columns`: of V.
shared::OperatorBlockParameters block_parameters(const OperatorPlan& plan, const BlockPlace& place,
                                                 std::uint64_t leading, std::uint32_t columns,
                                                 const SumFactors& factors) noexcept;
/// Without the places of V.
shared::OperatorApplyParameters apply_parameters(const OperatorPlan& plan, const ApplyPass& pass,
                                                 const OperatorBand& band) noexcept;
/// Without the samples of a band.
shared::OperatorFeatureParameters feature_parameters(const OperatorPlan& plan,
                                                     const LowRankPlan& low) noexcept;
shared::OperatorRowsParameters rows_parameters(const OperatorPlan& plan) noexcept;
shared::OperatorBlochParameters bloch_parameters(const OperatorPlan& plan, ElementType features,
                                                 double scale) noexcept;

}  // namespace weft::kernels
