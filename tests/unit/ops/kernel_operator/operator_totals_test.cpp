// SPDX-License-Identifier: Apache-2.0
// Totals in fixed point: conversions against __int128, sums in any order, and the bound of their errors.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "ops/kernel_operator/operator_totals.hpp"
#include "shaders/kernel_operator/operator_total.h"

namespace {

using weft::shared::uvec2;
__extension__ using Wide = __int128;

uvec2 words(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    return {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)};
}
std::int64_t number(uvec2 w) {
    return static_cast<std::int64_t>(std::uint64_t{w.y} << 32 | w.x);
}

/// The multiple of 2^unit that is nearest to a number, halves away from 0.
std::int64_t nearest(double value, int unit) {
    if (value == 0) return 0;
    int exponent = 0;
    const double fraction = std::frexp(std::abs(value), &exponent);
    const auto mantissa = static_cast<std::int64_t>(std::ldexp(fraction, 53));
    const int shift = exponent - 53 - unit;
    Wide size = 0;
    if (shift >= 0)
        size = Wide{mantissa} << shift;
    else if (shift > -64)
        size = (Wide{mantissa} + (Wide{1} << (-shift - 1))) >> -shift;
    return static_cast<std::int64_t>(value < 0 ? -size : size);
}

std::int64_t of_double(double value, int unit) {
    return number(weft::shared::fixed_of_double(words(value), unit));
}
std::int64_t of_float(float value, int unit) {
    return number(weft::shared::fixed_of_float(std::bit_cast<std::uint32_t>(value), unit));
}

}  // namespace

TEST_CASE("numbers become the nearest multiple of a unit") {
    std::mt19937_64 random(5);
    std::uniform_real_distribution<double> fraction(-1, 1);
    for (const int exponent : {-1000, -140, -100, 0, 3, 100, 900})
        for (int below = 0; below < 70; ++below)
            for (int i = 0; i < 20; ++i) {
                // Of the range of a total, and far smaller.
                const int unit = exponent - 62;
                const double value = std::ldexp(fraction(random), exponent - below);
                CAPTURE(value);
                CHECK(of_double(value, unit) == nearest(value, unit));
                const auto narrow = static_cast<float>(value);
                if (std::isfinite(narrow)) CHECK(of_float(narrow, unit) == nearest(double{narrow}, unit));
            }
    for (const double value : {0.0, -0.0, 0.5, -0.5, 1.5, -1.5, 3.25, 1048576.0, 0.49999999})
        for (const int unit : {-8, -1, 0, 1, 3}) {
            CHECK(of_double(value, unit) == nearest(value, unit));
            CHECK(of_float(static_cast<float>(value), unit) ==
                  nearest(double{static_cast<float>(value)}, unit));
        }
    CHECK(of_double(std::numeric_limits<double>::denorm_min(), -1074) == 1);
    CHECK(of_float(std::numeric_limits<float>::denorm_min(), -149) == 1);
}

TEST_CASE("what is not finite, or too large, is no term") {
    using namespace weft::shared;
    const auto of = [](float value) { return std::bit_cast<std::uint32_t>(value); };
    for (const double sign : {-1.0, 1.0}) {
        const auto narrow = static_cast<float>(sign);
        CHECK(float_can_be_term(of(narrow), -62 + 1));
        CHECK_FALSE(float_can_be_term(of(narrow), -62));
        CHECK(double_can_be_term(words(sign), -62 + 1));
        CHECK_FALSE(double_can_be_term(words(sign), -62));
        CHECK_FALSE(float_can_be_term(of(narrow * std::numeric_limits<float>::infinity()), 500));
        CHECK_FALSE(double_can_be_term(words(sign * std::numeric_limits<double>::infinity()), 5000));
    }
    CHECK_FALSE(float_can_be_term(of(std::numeric_limits<float>::quiet_NaN()), 500));
    CHECK_FALSE(double_can_be_term(words(std::numeric_limits<double>::quiet_NaN()), 5000));
    CHECK(float_can_be_term(of(0.0f), -300));
}

TEST_CASE("totals have the same bits in any order and for any number of devices, and a small error") {
    constexpr std::size_t kTerms = 3000;
    std::mt19937_64 random(7);
    std::normal_distribution<double> normal;
    std::vector<double> terms(kTerms);
    for (double& term : terms) term = normal(random) * std::exp(3 * normal(random));
    const double size =
        std::abs(*std::max_element(terms.begin(), terms.end(),
                                   [](double a, double b) { return std::abs(a) < std::abs(b); })) *
        kTerms;
    const std::vector<double> v{size, 0.0};  // its sum bounds every total
    const std::vector<std::int32_t> units = weft::kernels::total_units(v, 1, 1, 1);
    REQUIRE(units.size() == 1);
    long double exact = 0;
    for (const double term : terms) exact += static_cast<long double>(term);
    double first = 0;
    for (std::size_t devices = 1; devices <= 5; ++devices) {
        std::shuffle(terms.begin(), terms.end(), random);
        std::vector<std::vector<std::uint32_t>> totals(devices + 1);  // the last one did nothing
        for (std::size_t d = 0; d < devices; ++d) {
            uvec2 total(0u, 0u);
            for (std::size_t i = d; i < kTerms; i += devices)
                total =
                    weft::shared::add_words(total, weft::shared::fixed_of_double(words(terms[i]), units[0]));
            totals[d] = {total.x, total.y, 0u, 0u, 0u};
        }
        std::vector<double> out{3, 5};
        const std::vector<double> of_v{0.5, 2};
        weft::kernels::add_totals(totals, units, {1, 0, 0}, of_v, out, 3);
        CHECK(std::abs(out[0] - static_cast<double>(exact)) <=
              weft::kernels::total_error(kTerms, true) * std::ldexp(size, -53));
        if (devices == 1) first = out[0];
        CHECK(std::bit_cast<std::uint64_t>(out[0]) == std::bit_cast<std::uint64_t>(first));
        CHECK(out[1] == 0);
        out = {3, 5};
        weft::kernels::add_totals(totals, units, {2, 4, 10}, of_v, out, 1);
        CHECK(out[1] == 58);
        CHECK(std::abs(out[0] - (2 * first + 32)) <= 1e-12 * (std::abs(first) + 32));
    }
}

TEST_CASE("the smallest and the largest numbers have totals too") {
    for (const double size : {3e-320, 1e-300, 1.5, 1e300}) {
        const std::vector<double> v{size};
        const std::vector<std::int32_t> units = weft::kernels::total_units(v, 1, 1, 1);
        REQUIRE(units.size() == 1);
        const uvec2 total = weft::shared::fixed_of_double(words(size), units[0]);
        const std::vector<std::vector<std::uint32_t>> totals{{total.x, total.y, 0u}};
        std::vector<double> out{7};
        weft::kernels::add_totals(totals, units, {1, 0, 0}, v, out, 1);
        CHECK(out[0] == size);
    }
}

TEST_CASE("units follow from V, and V that has none is left to another way") {
    using weft::kernels::total_units;
    constexpr float kMost = std::numeric_limits<float>::max();
    const std::vector<float> v{1, -8, 0.5f, -8, 0.25f, 8};  // sums 1.75 and 24
    CHECK(total_units(v, 2, 1, 4) == std::vector<std::int32_t>{1 - 62, 5 - 62});
    CHECK(total_units(v, 2, 4, 4) == std::vector<std::int32_t>{3 - 62, 7 - 62});
    CHECK(total_units(std::vector<float>{0, 0}, 1, 1, 1).size() == 1);
    for (const float wrong :
         {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(), kMost})
        CHECK(total_units(std::vector<float>{1, wrong}, 1, 1, 1).empty());
    CHECK(total_units(std::vector<float>{1, 2}, 1, std::nan(""), 1).empty());
    CHECK(total_units(std::vector<double>{1, 1e39}, 1, 1, 1).size() == 1);
    // Any number of threads finds the same units.
    std::vector<double> many(100'003);
    for (std::size_t i = 0; i < many.size(); ++i) many[i] = 1 / static_cast<double>(i + 1);
    for (const std::uint32_t threads : {2u, 3u, 16u})
        CHECK(total_units(many, 1, 1, threads) == total_units(many, 1, 1, 1));
}
