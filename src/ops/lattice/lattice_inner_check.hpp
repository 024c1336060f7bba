// SPDX-License-Identifier: Apache-2.0
// Shapes and checks of inner products of lattice codes. Pure.
#pragma once

#include <cstddef>

#include <weft/ops/lattice_inner.hpp>

#include "ops/lattice/lattice_plan.hpp"

namespace weft::kernels {

/// Rows of whole vectors stay rows here, unlike in lattice_shape: each has a result of its own. Errors:
/// invalid_argument - a table of another code, retries, dither, sums that may not fit 32 bits, more than 2^56
/// vectors.
LatticeShape inner_shape(const LatticeTable& table, const LatticeCode& code, std::size_t rows,
                         std::size_t width);

/// Whether y is one row for all. Errors: invalid_argument - it is neither that nor all rows.
bool is_one_row(std::size_t got, std::size_t one, std::size_t rows, std::size_t all, const char* unit);

/// Sizes of resident arrays in words; returns is_one_row. Errors: invalid_argument.
bool check_inner_words(const LatticeCode& code, const LatticeShape& shape, std::size_t x, std::size_t y);

}  // namespace weft::kernels
