// SPDX-License-Identifier: Apache-2.0
// Amplitude rows that several workgroups share, with blocks of all kinds next to each other, and their exact
// states.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace weft_test {

constexpr std::uint64_t kSharedRows = 5;
constexpr std::uint32_t kSharedQubits = 16;

/// The rows are: plain values, NaN in the third block, zeros, blocks of very different scales, and plain
/// values with an empty block.
inline std::vector<double> shared_rows(std::uint64_t features, double large) {
    std::vector<double> values(kSharedRows * features);
    for (std::uint64_t i = 0; i < features; ++i) {
        values[i] = static_cast<double>(i % 11) - 5;
        values[features + i] = 1;
        values[3 * features + i] = i < 5000 ? large : 1 / large;
        values[4 * features + i] = i >= 8192 && i < 16384 ? 0 : 3;
    }
    values[features + 20000] = std::numeric_limits<double>::quiet_NaN();
    return values;
}

/// The relative bound on the error of an amplitude, counted in roundings of the arithmetic: half of a
/// rounding each for squares and sum, because the root halves them; one each for the step to the inverse
/// root, for its result and for the product with it. A result that is rounded to float has one rounding of
/// float in addition.
template <class Value, class Part>
double amplitude_bound() {
    constexpr double kFloat = 0x1p-24, kDouble = 0x1p-53;
    if (sizeof(Part) == 8) return 4 * kDouble;
    return sizeof(Value) == 4 ? 4 * kFloat : kFloat + 4 * kDouble;
}

/// Amplitudes below the smallest normal number may be 0.
template <class Value, class Amplitude>
void check_shared_rows(const std::vector<double>& values, std::uint64_t features,
                       const std::vector<Amplitude>& states, const std::vector<std::uint32_t>& status) {
    using Part = typename Amplitude::value_type;
    const std::vector<std::uint32_t> want_status{0, 0, 2, 20000, 1, 0, 0, 0, 0, 0};
    CHECK(status == want_status);
    for (std::uint64_t row = 0; row < kSharedRows; ++row) {
        long double squares = 0;
        for (std::uint64_t i = 0; i < features; ++i) {
            const long double v = static_cast<Value>(values[row * features + i]);
            squares += v * v;
        }
        double worst = 0;
        for (std::uint64_t i = 0; i < std::uint64_t{1} << kSharedQubits; ++i) {
            const long double v = i < features ? static_cast<Value>(values[row * features + i]) : Value(0);
            const long double want = want_status[2 * row] == 0 ? v / std::sqrt(squares) : 0;
            const Amplitude got = states[(row << kSharedQubits) + i];
            const long double off = std::abs(got.real() - want) + std::abs(got.imag());
            const long double least = std::numeric_limits<Part>::min();
            if (off == 0 || (std::abs(want) < least && off < least)) continue;
            const auto relative = static_cast<double>(off / std::abs(want));
            if (!(relative <= worst)) worst = relative;
        }
        CAPTURE(row);
        CHECK(worst < amplitude_bound<Value, Part>());
    }
}

}  // namespace weft_test
