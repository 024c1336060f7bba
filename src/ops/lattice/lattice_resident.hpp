// SPDX-License-Identifier: Apache-2.0
// Shapes, checks and push constants of lattice operations on vectors in memory of any API. Pure.
#pragma once

#include <cstddef>
#include <cstdint>

#include <weft/ops/lattice.hpp>

#include "ops/lattice/lattice_plan.hpp"
#include "shaders/lattice/lattice_settings.h"

namespace weft::kernels {

/// Push constants behind count and first.
struct LatticeParameters {
    shared::LatticeSettings settings;
    shared::LatticeLayout layout;
};

LatticeParameters parameters_of(const LatticeCode& code, const LatticeShape& shape);

/// Errors: invalid_argument - a code out of range, values that are no whole rows, rows that are too wide.
LatticeShape checked_shape(const char* function, const LatticeCode& code, std::size_t values,
                           std::size_t width);
/// All levels for 0. Errors: invalid_argument - more than there are.
std::uint32_t checked_depth(const char* function, const LatticeCode& code, std::uint32_t depth);

/// Vectors in device memory; elements are blocks of them, the last one in part.
struct ResidentVectors {
    LatticeShape shape;
    LatticeParameters parameters;
    std::uint64_t elements = 0;
};

/// `codes` and `status` are words there. Errors: invalid_argument - as checked_shape; more vectors than 32
/// bits count; sizes that do not fit.
ResidentVectors resident_vectors(const char* function, const LatticeCode& code, std::size_t values,
                                 std::size_t width, std::size_t codes, std::size_t status);

/// Values from `x` and `y` on, in one memory where `same` is true. Errors: invalid_argument - they overlap in
/// part.
void check_lattice_overlap(const char* function, bool same, std::size_t x, std::size_t y, std::size_t values);

}  // namespace weft::kernels
