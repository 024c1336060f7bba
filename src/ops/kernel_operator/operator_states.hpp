// SPDX-License-Identifier: Apache-2.0
// How a product with a kernel operator of states is made: which blocks of K, from which packed states. Pure
// functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/kernel_matrix/kernel_plan.hpp"
#include "ops/kernel_operator/operator_plan.hpp"

namespace weft::kernels {

/// The options of the kernel matrix whose blocks an operator of states makes.
KernelMatrixOptions matrix_options(const KernelOperatorOptions& options, bool given) noexcept;
/// A plan with OperatorPlan::states. `shared`: of several devices. Errors: unsupported - float64 on a device
/// without shaderFloat64.
OperatorPlan plan_operator_of_states(const KernelMatrixDevice& device, const KernelMatrixShape& shape,
                                     CircuitFacts circuit, const KernelOperatorOptions& options,
                                     bool shared = false);
/// `shared`: of a device among several.
KernelOperatorEstimate estimate_operator_of_states(const OperatorPlan& plan, std::uint32_t columns,
                                                   const SharedProduct* shared = nullptr);

/// A block of K and the tiles of states that it is made from.
struct OperatorBlock {
    HostBlock tiles;
    /// Its values serve the block across the diagonal too.
    bool mirrored = false;
};
/// The blocks that rows [first, last) of a product need, in the order in which tiles are packed least often.
/// Of a product with the transpose these are columns of K.
std::vector<OperatorBlock> operator_blocks(const OperatorPlan& plan, std::uint64_t first, std::uint64_t last,
                                           bool transpose, bool symmetric);
/// The blocks of the diagonal, of at most `most` rows each.
std::vector<OperatorBlock> diagonal_blocks(const OperatorPlan& plan, std::uint64_t most);
/// Whether a product with all rows makes half of the blocks.
bool halves_blocks(const OperatorPlan& plan) noexcept;
/// Kernel values that are made for a block.
std::uint64_t pairs_of(const OperatorPlan& plan, const OperatorBlock& block) noexcept;

/// Values of a block, the rows of the output to which their product is added, and the rows of V that it
/// takes.
struct BlockPlace {
    std::uint64_t origin;  ///< of the values
    std::uint64_t row, rows, column, columns;
    bool first;  ///< nothing was added to these rows of the output before
};
/// A block that is made, and what is added from it: its own values, then those of its image if it has one.
struct BlockStep {
    OperatorBlock block;
    std::vector<BlockPlace> places;
};
/// `turned`: the rows of each block are made as columns; `image_origin`: where the values of an image begin.
std::vector<BlockStep> block_steps(const std::vector<OperatorBlock>& blocks, bool turned,
                                   std::uint64_t image_origin);

/// Rows of K that are made together, and the places in a list of rows that ask for one of them.
struct RowPanel {
    RowRange rows;
    std::vector<std::size_t> places;
};
/// Packed states begin at multiples of 64 rows, so as many are multiplied even for a single one.
std::vector<RowPanel> row_panels(const OperatorPlan& plan, const std::vector<std::uint32_t>& rows);

}  // namespace weft::kernels
