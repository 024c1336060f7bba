// SPDX-License-Identifier: Apache-2.0
// Products of doubles that are computed with integers equal those of IEEE 754.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "shaders/kernel_matrix/kernel_angle.h"

namespace {

using weft::shared::uvec2;

uvec2 words(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    return {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)};
}
double number(uvec2 words) {
    return std::bit_cast<double>(std::uint64_t{words.y} << 32 | words.x);
}
double product(double a, double b) {
    return number(weft::shared::multiply_doubles(words(a), words(b)));
}

// The documented result where IEEE 754 has denormal numbers.
double flushed(double value) {
    return std::abs(value) < std::numeric_limits<double>::min() ? std::copysign(0.0, value) : value;
}

bool same(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

}  // namespace

TEST_CASE("products of directed doubles are rounded as in IEEE 754") {
    const double below_one = std::nextafter(1.0, 0.0), above_one = std::nextafter(1.0, 2.0);
    const double values[] = {
        0.0,         -0.0,      1.0, -1.0,  2.0,        0.5,        0.1,     1.0 / 3,
        below_one,   above_one, 3.0, 1e300, 1e-300,     1e-160,     -1e160,  6.283185307179586,
        0x1.8p-1022, 0x1p1023,  1.5, -1e-5, 1e15 + 0.5, 0x1.8p-537, 0x1p-511};
    for (const double a : values)
        for (const double b : values) {
            CAPTURE(a);
            CAPTURE(b);
            CHECK(same(product(a, b), flushed(a * b)));
        }
}

TEST_CASE("products of random doubles are those of the processor, ties and carries among them") {
    std::mt19937_64 random(7);
    std::size_t wrong = 0;
    for (int i = 0; i < 200000; ++i) {
        // Short mantissas make exact ties; long ones carries through all words.
        const std::uint64_t mask = ~std::uint64_t{0} << (i % 4 == 0 ? 26 : i % 4 == 1 ? 25 : 0);
        const auto make = [&] {
            const std::uint64_t exponent = 1023 - 40 + random() % 80;
            const std::uint64_t mantissa =
                (i % 8 == 7 ? ~(random() % 64) : random()) & mask & 0xfffffffffffffu;
            return std::bit_cast<double>((random() & 1u) << 63 | exponent << 52 | mantissa);
        };
        const double a = make(), b = make();
        wrong += same(product(a, b), a * b) ? 0 : 1;
    }
    CHECK(wrong == 0);
}

TEST_CASE("values that are not finite stay so") {
    const double infinite = std::numeric_limits<double>::infinity(),
                 nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(std::isnan(product(nan, 1)));
    CHECK(std::isnan(product(2, nan)));
    CHECK(std::isinf(product(infinite, 0.5)));
    CHECK(same(product(1e200, -1e200), -infinite));
}

TEST_CASE("halves are exact") {
    for (const double value : {1.0, -3.7, 1e-300, 0x1p-1021, 0.0, -0.0, 1e308}) {
        CAPTURE(value);
        CHECK(same(number(weft::shared::half_double(words(value))), value / 2));
    }
    CHECK(number(weft::shared::half_double(words(0x1p-1022))) == 0);
    CHECK(std::isnan(number(weft::shared::half_double(words(std::nan(""))))));
}

TEST_CASE("denormal operands count as 0") {
    CHECK(same(product(1e-308, 1e300), 0.0));
    CHECK(same(product(-1e300, 1e-308), -0.0));
}
