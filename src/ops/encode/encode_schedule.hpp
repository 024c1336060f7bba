// SPDX-License-Identifier: Apache-2.0
// The order of dispatches that a resident encode is made of, each on ranges that fit one binding: pure
// functions. What records or launches them is src/ops_vulkan/encode/encode_steps.cpp and
// src/ops_cuda/encode/encode_steps.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/encode/encode_plan.hpp"
#include "shaders/encode/encode_parameters.h"

namespace weft::kernels {

enum class EncodeStep {
    states,      ///< reads values, writes states and status
    norm_block,  ///< reads values, writes norms of blocks
    norm_row,    ///< norms of blocks to norms of rows and status
    scale,       ///< values and norms of rows to states
    pass,        ///< iqp: transforms `bits` bits of the index of states, in place
    join,        ///< iqp: transforms bit `bits` of the index, which tells windows of a state apart
};

/// One dispatch. Ranges are of each of its rows.
struct EncodeDispatch {
    EncodeStep step = EncodeStep::states;
    std::uint64_t row = 0, rows = 1;              ///< samples
    std::uint64_t value = 0, values = 0;          ///< the first that is read, and how many
    std::uint64_t amplitude = 0, amplitudes = 0;  ///< the first that is written, and how many
    std::uint32_t bits = 0;
    std::uint64_t count = 0;  ///< elements
    /// For values that are bound from the first that is read, and the status of all rows.
    shared::EncodeParameters parameters{};
};

/// States of some rows, or of a window of one, then the passes over them.
std::vector<EncodeDispatch> window_steps(const EncodePlan& plan, std::uint64_t row, std::uint64_t rows,
                                         std::uint64_t amplitude, std::uint64_t amplitudes, bool check_only);
/// Of amplitude_long. `value` is a multiple of a block's values.
EncodeDispatch norm_block_step(const EncodePlan& plan, std::uint64_t row, std::uint64_t rows,
                               std::uint64_t value, std::uint64_t values);
EncodeDispatch norm_row_step(const EncodePlan& plan, std::uint64_t row, std::uint64_t rows);
/// 2^bits amplitudes of each row from `amplitude` on; where no values belong to them, they become zeros.
EncodeDispatch scale_step(const EncodePlan& plan, std::uint64_t row, std::uint64_t rows,
                          std::uint64_t amplitude, std::uint32_t bits);

/// Everything of plan.samples samples. With `check_only` the status is all that is written.
std::vector<EncodeDispatch> encode_schedule(const EncodePlan& plan, bool check_only);

}  // namespace weft::kernels
