// SPDX-License-Identifier: Apache-2.0
// A product with a kernel operator as every API walks through it: its passes, the bands and blocks of K that
// some rows or some shares of pairs take, and how many kernel values these are. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ops/kernel_operator/operator_sharing.hpp"
#include "ops/kernel_operator/operator_states.hpp"

namespace weft::kernels {

/// Rows [first, last) of a product.
struct ApplyRows {
    std::uint64_t first = 0, last = 0;
};
/// Items [first, first + count) of a SharedProduct, which every device cuts in the same way.
struct PairShare {
    RowFold fold;
    std::uint64_t first = 0, count = 0;
};

class OperatorProduct {
  public:
    /// `symmetric`: off for some rows; automatic for all rows; on for shares of pairs. `plan` must outlive
    /// it.
    OperatorProduct(const OperatorPlan& plan, std::uint32_t columns, bool transpose, Choice symmetric);

    /// Kernel values of these rows or pairs, in all passes.
    std::uint64_t pairs(const ApplyRows& rows) const;
    std::uint64_t pairs(const PairShare& share) const;
    const ApplySide& side() const noexcept { return side_; }
    KernelOperatorMethod method() const noexcept;

  protected:
    std::vector<OperatorBand> bands_of_share(const ApplyPass& pass, const PairShare& share) const;
    std::vector<OperatorBlock> blocks_of(const ApplyRows& rows) const;
    std::vector<OperatorBlock> blocks_of(const PairShare& share) const;

    const OperatorPlan& plan_;
    const std::uint32_t columns_;  ///< of V
    const ApplySide side_;
    const bool turned_;  ///< rows of the product are columns of K of X with Y
    const Choice symmetric_;
    const std::optional<LowRankPlan> low_rank_;
    const std::vector<ApplyPass> passes_;
};

}  // namespace weft::kernels
