// SPDX-License-Identifier: Apache-2.0
// Totals of a product in fixed point (shaders/kernel_operator/operator_total.h), on the host: their unit, and
// the result from those of all devices. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <weft/array.hpp>

namespace weft::kernels {

/// Rounding errors of totals with `terms` terms, in units of 2^-24 (or 2^-53) times the sum of |V|.
double total_error(double terms, bool real64) noexcept;

/// Exponents of the units of totals, one for each column of V, for kernel values of at most `largest`. None:
/// V or its products are not finite, or beyond the range of the type.
std::vector<std::int32_t> total_units(const ConstHostArray& v, std::uint32_t columns, double largest,
                                      std::uint32_t threads);

/// out = alpha * (totals of all devices) + delta * V + beta * out. The totals of a device that did nothing
/// are empty.
struct TotalFactors {
    double alpha = 1, delta = 0, beta = 0;
};
void add_totals(std::span<const std::vector<std::uint32_t>> totals, std::span<const std::int32_t> units,
                const TotalFactors& factors, const ConstHostArray& v, const HostArray& out,
                std::uint32_t threads);

}  // namespace weft::kernels
