// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_operator/operator_states.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "ops/kernel_matrix/kernel_estimate.hpp"
#include "ops/kernel_operator/operator_sharing.hpp"
#include "ops/kernel_operator/operator_totals.hpp"

namespace weft::kernels {
namespace {

/// Rows and columns of a block: enough for a product of many workgroups, in a small part of the memory.
std::uint64_t block_rows(const KernelMatrixDevice& device, std::uint64_t value_bytes) {
    constexpr std::uint64_t kLeast = 512;
    const std::uint64_t most = device.gram.software ? 1024 : 8192;
    // A block and its mirror image.
    const std::uint64_t range =
        std::min(device.budget_bytes / 64, device.gram.limits.max_storage_buffer_range);
    const auto side = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(range / (2 * value_bytes))));
    return std::clamp(std::bit_floor(std::max<std::uint64_t>(side, 1)), kLeast, most);
}
/// The same where devices share the blocks: so many that all devices are busy to the end.
std::uint64_t shared_block_rows(std::uint64_t rows, std::uint64_t samples) {
    constexpr std::uint64_t kLeast = 512, kBlocks = 16;  // of a side of K
    return std::min(rows, std::max(std::bit_floor(samples / kBlocks), kLeast));
}

std::uint64_t block_bytes(const OperatorPlan& plan) {
    const std::uint64_t images = halves_blocks(plan) ? 2 : 1;
    return images * plan.states->block * plan.states->block * plan.real_bytes();
}

/// Multiply-adds of an inner product.
double instructions_of(const KernelMatrixPlan& matrix) {
    const double of_amplitude = matrix.states.gram.method == GramMethod::fp32_3m ? 3 : 4;
    return std::ldexp(of_amplitude, static_cast<int>(matrix.shape.qubits));
}

/// Roundings of a sum over the columns of K: over 16 of them, over the tiles of a block, over four
/// invocations, and over blocks.
double additions_of(const OperatorPlan& plan, bool shared) {
    const std::uint64_t block = plan.states->block, blocks = divide_up(plan.shape.columns(), block);
    const double of_block = 16 + static_cast<double>(divide_up(block, 64)) + 4;
    const auto terms = static_cast<double>(blocks);
    return of_block + (shared ? total_error(terms, plan.real64) : terms + 4);
}

void add_reasons(const OperatorPlan& plan, KernelOperatorEstimate& estimate, const SharedProduct* shared) {
    const OperatorOfStates& states = *plan.states;
    std::vector<std::string>& reasons = estimate.reasons;
    if (!states.matrix.obstacle.empty()) {
        reasons.push_back("does not fit: " + states.matrix.obstacle);
        return;
    }
    const auto text = [](std::uint64_t n) { return std::to_string(n); };
    reasons.push_back("blocks of " + text(states.block) + " rows and columns of K, by inner products");
    reasons.push_back(shared != nullptr     ? shared->reason
                      : estimate.symmetric  ? "symmetric: each block serves its rows and its columns"
                      : plan.shape.square() ? "not symmetric: turned off"
                                            : "not symmetric: K of X with Y");
    if (estimate.fits) return;
    if (states.given && !states.matrix.states.bulk)
        reasons.push_back("states that are given must fit the device together");
    reasons.push_back("does not fit (got " + text(estimate.sample_bytes) + " bytes of states and " +
                      text(estimate.scratch_bytes) + " of scratch memory, need at most " +
                      text(estimate.available_bytes) + ")");
}

}  // namespace

KernelMatrixOptions matrix_options(const KernelOperatorOptions& options, bool given) noexcept {
    KernelMatrixOptions same;
    same.vram_fraction = options.vram_fraction;
    same.normalize = options.normalize;
    same.jitter = options.jitter;
    if (given) same.bulk_states = Choice::on;  // nothing else has them
    return same;
}

OperatorPlan plan_operator_of_states(const KernelMatrixDevice& device, const KernelMatrixShape& shape,
                                     CircuitFacts circuit, const KernelOperatorOptions& options,
                                     bool shared) {
    OperatorPlan plan;
    plan.device = {device.gram.limits, device.gram.software, device.gram.float64, device.budget_bytes};
    plan.shape = shape;
    plan.options = options;
    plan.real64 = options.type == kFloat64;
    circuit.on_host = true;
    circuit.block = block_rows(device, plan.real_bytes());
    if (shared) circuit.block = shared_block_rows(circuit.block, shape.samples);
    const KernelMatrixOptions same = matrix_options(options, circuit.given);
    OperatorOfStates states;
    states.matrix = plan_kernel(device, shape, circuit, options.type, same);
    states.given = circuit.given;
    const KernelMatrixEstimate estimate = estimate_kernel(states.matrix, device, circuit, same);
    states.kernel_error = estimate.error;
    states.reasons = estimate.reasons;
    if (states.matrix.obstacle.empty()) {
        states.block = states.matrix.states.block;
        states.bytes = states_memory(states.matrix, device, false);
    }
    plan.states = std::move(states);
    return plan;
}

bool halves_blocks(const OperatorPlan& plan) noexcept {
    return plan.shape.square() && plan.options.symmetric != Choice::off;
}

KernelOperatorEstimate estimate_operator_of_states(const OperatorPlan& plan, std::uint32_t columns,
                                                   const SharedProduct* shared) {
    const OperatorOfStates& states = *plan.states;
    KernelOperatorEstimate estimate;
    estimate.method = KernelOperatorMethod::states;
    estimate.symmetric = shared != nullptr ? shared->symmetric : halves_blocks(plan);
    estimate.columns_together = columns;
    estimate.passes = 1;
    estimate.available_bytes = static_cast<std::uint64_t>(static_cast<double>(plan.device.budget_bytes) *
                                                          plan.options.vram_fraction);
    estimate.reasons.push_back(states.reasons.front());
    if (states.matrix.obstacle.empty()) {
        const StatePlan& packed = states.matrix.states;
        for (const OperatorBlock& block :
             operator_blocks(plan, 0, plan.shape.samples, false, estimate.symmetric))
            estimate.pairs += pairs_of(plan, block);
        estimate.instructions = instructions_of(states.matrix) * (estimate.symmetric ? 0.5 : 1) + columns;
        const std::uint64_t held =
            packed.gram.packed_bytes(plan.shape.samples) + packed.gram.packed_bytes(plan.shape.others);
        estimate.sample_bytes =
            packed.bulk ? std::min(held, states.bytes)
                        : std::min(states.bytes, states.matrix.planes_values() * states.matrix.real_bytes());
        estimate.scratch_bytes = states.bytes - estimate.sample_bytes + block_bytes(plan);
        if (shared != nullptr && shared->symmetric)  // totals, and the sums of a block
            estimate.scratch_bytes += shared->total_bytes + states.block * columns * plan.real_bytes();
        estimate.fits = estimate.sample_bytes + estimate.scratch_bytes <= estimate.available_bytes;
        const bool by_pairs = shared != nullptr && shared->symmetric;
        estimate.error =
            states.kernel_error + additions_of(plan, by_pairs) * std::ldexp(1.0, plan.real64 ? -53 : -24);
    }
    add_reasons(plan, estimate, shared);
    return estimate;
}

std::vector<OperatorBlock> operator_blocks(const OperatorPlan& plan, std::uint64_t first, std::uint64_t last,
                                           bool transpose, bool symmetric) {
    const KernelMatrixShape& shape = plan.shape;
    const bool square = shape.square(), columns_asked = transpose && !square;
    const std::uint64_t tile = plan.states->matrix.states.tile, step = plan.states->block;
    const RowRange rows = columns_asked ? RowRange{0, shape.samples} : RowRange{first, last};
    const RowRange columns = columns_asked ? RowRange{first, last} : RowRange{0, shape.columns()};
    std::vector<OperatorBlock> blocks;
    const auto add_pair = [&](const StateRows& x, const StateRows& y, bool own) {
        const std::uint64_t down = std::min(x.row + x.count, rows.last);
        for (std::uint64_t row = std::max(x.row, rows.first); row < down; row += step) {
            const std::uint64_t across = symmetric && own ? row + 1 : std::min(y.row + y.count, columns.last);
            for (std::uint64_t column = std::max(y.row, columns.first); column < across; column += step)
                blocks.push_back({{x,
                                   y,
                                   own,
                                   {row, std::min(step, down - row), column,
                                    std::min({step, y.row + y.count - column, columns.last - column})}},
                                  symmetric && row != column});
        }
    };
    for (std::uint64_t row = rows.first / tile * tile; row < rows.last; row += tile) {
        const StateRows x{false, row, std::min(tile, shape.samples - row)};
        for (std::uint64_t column = columns.first / tile * tile;
             column < (symmetric ? row + 1 : columns.last); column += tile) {
            const bool own = square && column == row;
            add_pair(x, own ? x : StateRows{!square, column, std::min(tile, shape.columns() - column)}, own);
        }
    }
    return blocks;
}

std::vector<OperatorBlock> diagonal_blocks(const OperatorPlan& plan, std::uint64_t most) {
    const std::uint64_t all = plan.shape.samples, tile = plan.states->matrix.states.tile;
    std::vector<OperatorBlock> blocks;
    for (std::uint64_t row = 0; row < all; row += blocks.back().tiles.block.rows) {
        const std::uint64_t first = row / tile * tile, end = std::min(all, first + tile);
        const std::uint64_t rows = std::min({most, plan.states->block, end - row});
        const StateRows states{false, first, end - first};
        blocks.push_back({{states, states, true, {row, rows, row, rows}}, false});
    }
    return blocks;
}

std::vector<BlockStep> block_steps(const std::vector<OperatorBlock>& blocks, bool turned,
                                   std::uint64_t image_origin) {
    std::vector<BlockStep> steps;
    std::set<std::uint64_t> added;  // first rows of blocks
    for (const OperatorBlock& block : blocks) {
        const KernelBlock& b = block.tiles.block;
        const BlockPlace down{0, b.row, b.rows, b.column, b.columns, false};
        const BlockPlace across{0, b.column, b.columns, b.row, b.rows, false};
        BlockStep step{block, {turned ? across : down}};
        if (block.mirrored) {
            step.places.push_back(across);
            step.places.back().origin = image_origin;
        }
        for (BlockPlace& place : step.places) place.first = added.insert(place.row).second;
        steps.push_back(std::move(step));
    }
    return steps;
}

std::vector<RowPanel> row_panels(const OperatorPlan& plan, const std::vector<std::uint32_t>& rows) {
    constexpr std::uint64_t kRows = 64;
    std::map<std::uint64_t, std::vector<std::size_t>> places;  // by panel
    for (std::size_t i = 0; i < rows.size(); ++i) places[rows[i] / kRows].push_back(i);
    std::vector<RowPanel> panels;
    for (auto& [panel, asked] : places) {
        const std::uint64_t row = panel * kRows;
        panels.push_back({{row, std::min(plan.shape.samples, row + kRows)}, std::move(asked)});
    }
    return panels;
}

std::uint64_t pairs_of(const OperatorPlan& plan, const OperatorBlock& block) noexcept {
    return pairs_of(plan.shape, block.tiles.block);
}

}  // namespace weft::kernels
