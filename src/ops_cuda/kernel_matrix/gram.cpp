// SPDX-License-Identifier: Apache-2.0
#include "ops_cuda/kernel_matrix/gram.hpp"

#include <algorithm>

#include "cuda/check.hpp"
#include "ops_cuda/kernel_matrix/kernel_launch.hpp"
#include "shaders/gram/gram_layout.h"

namespace weft::cuda {
namespace {

using kernels::divide_up;
using kernels::GramMethod;
using kernels::word;

constexpr const char* kFunction = "kernel_matrix";

}  // namespace

GramProduct::GramProduct(StreamHandle stream, const kernels::GramPlan& plan, const std::byte* factors)
    : stream_(stream), plan_(plan), factors_(plan.problem.scaled ? factors : nullptr) {
    if (plan.split > 1) sums_ = Scratch(stream, plan.scratch_bytes, kFunction, "sums");
}

void GramProduct::pack(const std::byte* states, std::uint64_t rows, std::byte* planes,
                       std::uint64_t first) const {
    const std::uint64_t row = plan_.problem.amplitudes * plan_.source_bytes();
    const std::uint64_t across = divide_up(plan_.problem.amplitudes, shared::kGramPackAmplitudes);
    for (std::uint64_t at = 0; at < rows; at += plan_.panel_rows) {
        const std::uint64_t count = std::min(plan_.panel_rows, rows - at);
        const GramPackLaunch launch{
            .stream = stream_,
            .widened = plan_.problem.widened,
            .count = word(divide_up(count, shared::kGramBlockRows) * across),
            .p = {word(count), word(plan_.problem.amplitudes), word(plan_.blocks), 0, word(across)},
            .states = states + at * row,
            .planes = planes + (first + at) * plan_.row_bytes};
        check_launch(plan_.matrix()                     ? launch_gram_pack_matrix(launch)
                     : plan_.method == GramMethod::fp64 ? launch_gram_pack_real64(launch)
                                                        : launch_gram_pack_real32(launch),
                     kFunction);
    }
}

// One launch for each block of K whose rows and values 32 bits count.
void GramProduct::run(const GramRows& x, const GramRows& y, const GramTarget& target, bool square) const {
    kernels::GramBlocks blocks(plan_, x.rows, y.rows, square);
    for (kernels::GramBlock block; blocks.next(block);) {
        const kernels::GramDispatch d =
            kernels::gram_dispatch(plan_, block, target.place, square, x.factor, y.factor);
        GramLaunch launch{.stream = stream_,
                          .wide_values = plan_.problem.output == kernels::GramReal::float64,
                          .tile_rows = plan_.tile.rows,
                          .tile_columns = plan_.tile.columns,
                          .stages = plan_.tile.stages,
                          .flush_blocks = plan_.flush / plan_.step,
                          .split = plan_.split,
                          .count = word(d.tiles * d.parts),
                          .r = d.parameters,
                          .x = x.planes + (x.first + block.row) * plan_.row_bytes,
                          .y = y.planes + (y.first + block.column) * plan_.row_bytes,
                          .out = target.data + d.origin * plan_.output_bytes(),
                          .mirror = target.data + d.mirror_origin * plan_.output_bytes(),
                          .sums = sums_.data(),
                          .factors = factors_};
        check_launch(plan_.matrix()                        ? launch_gram_matrix(launch)
                     : plan_.method == GramMethod::fp64    ? launch_gram_tile_real64(launch)
                     : plan_.method == GramMethod::fp32_3m ? launch_gram_tile_3m(launch)
                                                           : launch_gram_tile_4m(launch),
                     kFunction);
        if (plan_.split == 1) continue;
        launch.count = word(d.tiles * plan_.tile.rows * plan_.tile.columns);
        check_launch(plan_.method == GramMethod::fp64 ? launch_gram_reduce_real64(launch)
                                                      : launch_gram_reduce_real32(launch),
                     kFunction);
    }
}

void GramProduct::multiply(const GramRows& x, const GramRows& y, const GramTarget& target) const {
    run(x, y, target, false);
}

void GramProduct::square(const GramRows& x, const GramTarget& target) const {
    run(x, x, target, true);
}

}  // namespace weft::cuda
