// SPDX-License-Identifier: Apache-2.0
// How several devices share a product with a square K so that each kernel value is made once: which of its
// pairs a share has, and when that pays. A share adds to rows of the result that other shares add to as well,
// so each device has totals of all rows, in fixed point, and the host adds them up. Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ops/kernel_operator/operator_plan.hpp"

namespace weft::kernels {

/// The rows of a square K, cut into items that have equally many pairs on and below the diagonal: item i is
/// block i of rows together with the block that is as far from the end.
struct RowFold {
    std::uint64_t rows = 0;
    std::uint64_t block = 1;  ///< rows of a block

    std::uint64_t blocks() const noexcept { return divide_up(rows, block); }
    std::uint64_t items() const noexcept { return divide_up(blocks(), 2); }
    /// The rows of items [first, first + count): one range or two, the longer rows first.
    std::vector<RowRange> ranges(std::uint64_t first, std::uint64_t count) const;
};

/// How several devices make a product together.
struct SharedProduct {
    std::uint32_t devices = 1;
    bool symmetric = false;         ///< shares are pairs, of which each is made once; otherwise rows
    std::string reason;             ///< for this
    RowFold fold;                   ///< of the closed form; products of states share blocks of K
    std::uint64_t items = 0;        ///< of the fold, or blocks
    std::uint64_t least_items = 1;  ///< of a share that is worth its start and the copy of its totals
    std::uint64_t total_bytes = 0;  ///< of the totals of a device
};

/// Pairs that keep a device busy for some milliseconds.
std::uint64_t least_pairs(const OperatorPlan& plan) noexcept;

/// The product of devices with these plans of one operator, with `columns` columns of V. What is lost does
/// not change it, so that results stay the same bits.
SharedProduct plan_shared(std::span<const OperatorPlan* const> plans, std::uint32_t columns);
/// The estimate of devices with these plans.
KernelOperatorEstimate estimate_shared(std::span<const OperatorPlan* const> plans, std::uint32_t columns);

}  // namespace weft::kernels
