// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_solve/solve_scales.hpp"

#include <algorithm>
#include <cmath>

namespace weft::kernels {

std::vector<double> column_maxima(std::span<const double> values, std::size_t columns) {
    std::vector<double> maxima(columns, 0.0);
    for (std::size_t i = 0; i < values.size(); i += columns)
        for (std::size_t c = 0; c < columns; ++c) maxima[c] = std::max(maxima[c], std::abs(values[i + c]));
    return maxima;
}

std::vector<int> exponents_of(std::span<const double> maxima) {
    constexpr int kHarmless = 60;
    std::vector<int> exponents(maxima.size(), 0);
    for (std::size_t c = 0; c < maxima.size(); ++c) {
        if (maxima[c] > 0 && std::isfinite(maxima[c])) std::frexp(maxima[c], &exponents[c]);
        if (std::abs(exponents[c]) <= kHarmless) exponents[c] = 0;
    }
    return exponents;
}

void scale_columns(std::span<double> values, std::span<const int> exponents, int sign) {
    const std::size_t columns = exponents.size();
    for (std::size_t c = 0; c < columns; ++c) {
        if (exponents[c] == 0) continue;
        // Two factors, because the whole one may be beyond the range of double.
        const int exponent = sign * exponents[c], half = exponent / 2;
        const double first = std::ldexp(1.0, half), second = std::ldexp(1.0, exponent - half);
        for (std::size_t i = c; i < values.size(); i += columns) values[i] = values[i] * first * second;
    }
}

}  // namespace weft::kernels
