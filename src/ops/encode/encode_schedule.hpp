// SPDX-License-Identifier: Apache-2.0
// The dispatches of a resident encode in their order, each on ranges that fit one binding. Pure functions.
// src/ops_vulkan/encode/encode_steps.cpp records them, and src/ops_cuda/encode/encode_steps.cpp launches
// them.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/encode/encode_plan.hpp"
#include "ops/encode/encode_step.hpp"
#include "shaders/encode/encode_parameters.h"

namespace weft::kernels {

/// One dispatch. Its ranges are those of each row.
struct EncodeDispatch {
    EncodeStep step = EncodeStep::states;
    std::uint64_t row = 0, rows = 1;              ///< samples
    std::uint64_t value = 0, values = 0;          ///< that are read: the first, and how many
    std::uint64_t amplitude = 0, amplitudes = 0;  ///< that are written: the first, and how many
    std::uint32_t bits = 0;
    std::uint64_t count = 0;  ///< elements
    /// For values that are bound from the first one read, and for the status of all rows.
    shared::EncodeParameters parameters{};
};

/// Constants of kernels: kEncodeAngle and the like for product, and for basis 0 for values of float32, 1 for
/// float64, 2 for int64.
std::uint32_t product_method(EncodeMethod method);
std::uint32_t input_of_basis(ElementType type);

/// Makes the states of some rows, or a window of one row, and then the passes over them.
std::vector<EncodeDispatch> window_steps(const EncodePlan& plan, std::uint64_t row, std::uint64_t rows,
                                         std::uint64_t amplitude, std::uint64_t amplitudes, bool check_only);
/// Norms of amplitude_long. `value` is a multiple of the values of a block.
EncodeDispatch norm_block_step(const EncodePlan& plan, std::uint64_t row, std::uint64_t rows,
                               std::uint64_t value, std::uint64_t values);
EncodeDispatch norm_row_step(const EncodePlan& plan, std::uint64_t row, std::uint64_t rows);
/// Makes 2^bits amplitudes of each row from `amplitude` on. Amplitudes without a value become zeros.
EncodeDispatch scale_step(const EncodePlan& plan, std::uint64_t row, std::uint64_t rows,
                          std::uint64_t amplitude, std::uint32_t bits);

/// All dispatches of plan.samples samples. With `check_only` they write the status alone.
std::vector<EncodeDispatch> encode_schedule(const EncodePlan& plan, bool check_only);

}  // namespace weft::kernels
