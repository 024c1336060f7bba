// SPDX-License-Identifier: Apache-2.0
#include "ops_cuda/kernel_matrix/gram.hpp"

#include <algorithm>

#include "cuda/check.hpp"
#include "ops_cuda/kernel_matrix/kernel_launch.hpp"
#include "shaders/gram/gram_layout.h"

namespace weft::cuda {
namespace {

using kernels::divide_up;

constexpr const char* kFunction = "kernel_matrix";
constexpr std::uint64_t kBlockRows = shared::kGramBlockRows;

std::uint32_t word(std::uint64_t value) {
    return static_cast<std::uint32_t>(value);
}
void done(int result) {
    check(static_cast<cudaError_t>(result), kFunction, "the launch");
}

}  // namespace

/// What one launch computes: a block of K whose rows and values 32 bits count.
struct GramProduct::Tiles {
    const GramRows& x;
    const GramRows& y;
    const GramTarget& target;
    kernels::GramBlock block;  ///< also in the target
    bool square;
};

GramProduct::GramProduct(StreamHandle stream, const kernels::GramPlan& plan, const std::byte* factors)
    : stream_(stream), plan_(plan), factors_(plan.problem.scaled ? factors : nullptr) {
    if (plan.split > 1) sums_ = Scratch(stream, plan.scratch_bytes, kFunction, "sums");
}

void GramProduct::pack(const std::byte* states, std::uint64_t rows, std::byte* planes,
                       std::uint64_t first) const {
    const std::uint64_t row = plan_.problem.amplitudes * (plan_.method == kernels::GramMethod::fp64 ? 16u : 8u);
    const std::uint64_t across = divide_up(plan_.problem.amplitudes, shared::kGramPackAmplitudes);
    for (std::uint64_t at = 0; at < rows; at += plan_.panel_rows) {
        const std::uint64_t count = std::min(plan_.panel_rows, rows - at);
        const GramPackLaunch launch{
            .stream = stream_,
            .plan = &plan_,
            .count = word(divide_up(count, kBlockRows) * across),
            .p = {word(count), word(plan_.problem.amplitudes), word(plan_.blocks), 0, word(across)},
            .states = states + at * row,
            .planes = planes + (first + at) * plan_.row_bytes};
        done(plan_.matrix()                          ? launch_gram_pack_matrix(launch)
             : plan_.method == kernels::GramMethod::fp64 ? launch_gram_pack_real64(launch)
                                                     : launch_gram_pack_real32(launch));
    }
}

void GramProduct::run(const Tiles& t) const {
    const std::uint64_t element = plan_.problem.output == kernels::GramReal::float64 ? 8 : 4;
    const std::uint64_t leading = t.target.leading;
    const bool mirror = t.square || t.target.mirror;
    const std::uint64_t mirror_origin = t.square ? t.target.origin : t.target.mirror_origin;
    const std::uint64_t down = divide_up(t.block.rows, plan_.tile.rows),
                        across = divide_up(t.block.columns, plan_.tile.columns);
    const bool diagonal = t.square && t.block.row == t.block.column;
    const std::uint64_t tiles =
        diagonal ? plan_.tile.rows / plan_.tile.columns * (down * (down + 1) / 2) : down * across;
    const std::uint64_t part = divide_up(plan_.blocks, plan_.split), parts = divide_up(plan_.blocks, part);
    GramLaunch launch{
        .stream = stream_,
        .plan = &plan_,
        .count = word(tiles * (plan_.split == 1 ? 1 : parts)),
        .r = {{word(t.block.rows), word(t.block.columns), word(plan_.blocks), diagonal ? 0u : word(across),
               word(leading), 0, 0, mirror ? 1u : 0u, word(tiles), word(part), word(t.x.factor + t.block.row),
               word(t.y.factor + t.block.column)},
              word(parts)},
        .x = t.x.planes + (t.x.first + t.block.row) * plan_.row_bytes,
        .y = t.y.planes + (t.y.first + t.block.column) * plan_.row_bytes,
        .out = t.target.data + (t.target.origin + t.block.row * leading + t.block.column) * element,
        .mirror = t.target.data + (mirror_origin + t.block.column * leading + t.block.row) * element,
        .sums = sums_.data(),
        .factors = factors_};
    done(plan_.matrix()                             ? launch_gram_matrix(launch)
         : plan_.method == kernels::GramMethod::fp64    ? launch_gram_tile_real64(launch)
         : plan_.method == kernels::GramMethod::fp32_3m ? launch_gram_tile_3m(launch)
                                                    : launch_gram_tile_4m(launch));
    if (plan_.split == 1) return;
    launch.count = word(tiles * plan_.tile.rows * plan_.tile.columns);
    done(plan_.method == kernels::GramMethod::fp64 ? launch_gram_reduce_real64(launch)
                                               : launch_gram_reduce_real32(launch));
}

void GramProduct::multiply(const GramRows& x, const GramRows& y, const GramTarget& target) const {
    kernels::GramBlocks blocks(plan_, x.rows, y.rows, false);
    for (kernels::GramBlock block; blocks.next(block);) run({x, y, target, block, false});
}

void GramProduct::square(const GramRows& x, const GramTarget& target) const {
    kernels::GramBlocks blocks(plan_, x.rows, x.rows, true);
    for (kernels::GramBlock block; blocks.next(block);) run({x, x, target, block, true});
}

}  // namespace weft::cuda
