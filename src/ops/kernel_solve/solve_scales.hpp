// SPDX-License-Identifier: Apache-2.0
// Powers of two that keep the columns of a solve within the range of their type. They change no digit. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace weft::kernels {

/// The largest absolute value of each column.
std::vector<double> column_maxima(std::span<const double> values, std::size_t columns);
/// Of each column the exponent of its largest value, which is below 2 to it; 0 where no scaling is needed: up
/// to 2^60 and down to 2^-60, and for zeros.
std::vector<int> exponents_of(std::span<const double> maxima);
/// Multiplies each column by 2 to `sign` times its exponent.
void scale_columns(std::span<double> values, std::span<const int> exponents, int sign);

}  // namespace weft::kernels
