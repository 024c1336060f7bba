// SPDX-License-Identifier: Apache-2.0
// The shaders' sine and cosine, compared with those of long double over the whole range of angles.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "shaders/encode/circuit/encode_trig.h"

namespace {

using namespace weft::shared;

Turns turns_of_double(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    return turns_of(static_cast<uint>(bits >> 32), static_cast<uint>(bits));
}

Turns turns_of_float(float x) {
    const uvec2 wide = widen_float(std::bit_cast<std::uint32_t>(x));
    return turns_of(wide.y, wide.x);
}

struct Errors {
    double sine = 0, cosine = 0;
};

void worst32(Errors& errors, float x) {
    const SinCos32 got = sincos32_of_turns(turns_of_float(x));
    const auto exact = static_cast<long double>(x);
    errors.sine = std::max(errors.sine, static_cast<double>(std::fabs(got.sine - std::sin(exact))));
    errors.cosine = std::max(errors.cosine, static_cast<double>(std::fabs(got.cosine - std::cos(exact))));
}

void worst64(Errors& errors, double x) {
    const SinCos64 got = sincos64_of_turns(turns_of_double(x));
    const auto exact = static_cast<long double>(x);
    errors.sine = std::max(errors.sine, static_cast<double>(std::fabs(got.sine - std::sin(exact))));
    errors.cosine = std::max(errors.cosine, static_cast<double>(std::fabs(got.cosine - std::cos(exact))));
}

// Angles are dense around every multiple of pi/4 in the first turns, then scattered up to 1e6, then over all
// exponents.
template <class T>
std::vector<T> arguments() {
    std::vector<T> all{T(0),
                       T(-0.0),
                       std::numeric_limits<T>::min(),
                       std::numeric_limits<T>::max(),
                       std::numeric_limits<T>::lowest(),
                       std::numeric_limits<T>::denorm_min()};
    const T quarter = static_cast<T>(0.78539816339744830962L);
    for (int k = -40; k <= 40; ++k) {
        T up = static_cast<T>(k) * quarter, down = up;
        for (int i = 0; i < 40; ++i) {
            all.push_back(up);
            all.push_back(down);
            up = std::nextafter(up, std::numeric_limits<T>::max());
            down = std::nextafter(down, std::numeric_limits<T>::lowest());
        }
    }
    std::mt19937_64 random(7);
    std::uniform_real_distribution<T> turn(T(-7), T(7)), far(T(-1e6), T(1e6));
    for (int i = 0; i < 200000; ++i) {
        all.push_back(turn(random));
        all.push_back(far(random));
    }
    for (int e = std::numeric_limits<T>::min_exponent; e < std::numeric_limits<T>::max_exponent; ++e)
        for (int i = 0; i < 30; ++i) all.push_back(std::ldexp(T(0.5) + std::abs(turn(random)) / T(14.1), e));
    return all;
}

}  // namespace

TEST_CASE("encode sine and cosine: float, the stated bound for every argument") {
    Errors errors;
    for (const float x : arguments<float>()) worst32(errors, x);
    MESSAGE("worst absolute error: sine " << errors.sine << ", cosine " << errors.cosine);
    CHECK(errors.sine < 1.2e-7);
    CHECK(errors.cosine < 1.2e-7);
}

TEST_CASE("encode sine and cosine: double, the stated bound for every argument") {
    Errors errors;
    for (const double x : arguments<double>()) worst64(errors, x);
    MESSAGE("worst absolute error: sine " << errors.sine << ", cosine " << errors.cosine);
    CHECK(errors.sine < 3e-16);
    CHECK(errors.cosine < 3e-16);
}

TEST_CASE("encode sine and cosine: small angles keep their relative precision") {
    double worst = 0, worst_double = 0;
    for (int e = -120; e < 0; ++e)
        for (int i = 0; i < 2000; ++i) {
            const double x = std::ldexp(0.5 + i / 4000.0, e) * 1.57;
            if (x > 0.7853981) continue;
            const auto f = static_cast<float>(x);
            const long double sine = std::sin(static_cast<long double>(f));
            const long double sine64 = std::sin(static_cast<long double>(x));
            worst = std::max(worst, static_cast<double>(std::fabs(short_sincos32(f).sine / sine - 1)));
            worst_double =
                std::max(worst_double, static_cast<double>(std::fabs(short_sincos64(x).sine / sine64 - 1)));
        }
    CHECK(worst < 2 * 1.2e-7);
    CHECK(worst_double < 2 * 2.3e-16);
    CHECK(worst > 0);
}

TEST_CASE("encode turns: floats of every exponent are the doubles they equal, denormal numbers too") {
    std::mt19937 random(3);
    for (int i = 0; i < 200000; ++i) {
        const std::uint32_t word = i < 64 ? 1u << (i % 23) : static_cast<std::uint32_t>(random());
        const std::uint32_t bits = i % 2 == 0 ? word & 0x807fffffu : word;  // every second one denormal
        const auto value = std::bit_cast<float>(bits);
        if (!std::isfinite(value)) continue;
        const uvec2 wide = widen_any_float(bits);
        REQUIRE(std::bit_cast<std::uint64_t>(static_cast<double>(value)) ==
                (std::uint64_t{wide.y} << 32 | wide.x));
    }
}

TEST_CASE("encode turns: exact to the last of 64 bits as far as long double can check it") {
    constexpr long double kTwoPi = 6.283185307179586476925286766559L;
    for (const double x : {1e-3, 0.5, 1.0, 3.0, 6.0, -1.0, -6.0, 2.5, 1e-15, 7.0, 100.0}) {
        CAPTURE(x);
        const Turns turns = turns_of_double(x);
        const long double got = std::ldexp(static_cast<long double>(turns.high), -32) +
                                std::ldexp(static_cast<long double>(turns.low), -64);
        long double want = static_cast<long double>(x) / kTwoPi;
        want -= std::floor(want);
        CHECK(static_cast<double>(std::fabs(got - want)) < 1e-17);
    }
}

TEST_CASE("encode turns: bits of 1 / (2 pi) by shifts are those of the table") {
    int unequal = 0;
    for (int offset = -1074; offset <= 971; ++offset) {
        const TurnBits by_shifts = turn_bits_by_shifts(offset), of_table = turn_bits_of_table(offset);
        for (int i = 0; i < 4; ++i) unequal += by_shifts.word[i] == of_table.word[i] ? 0 : 1;
    }
    CHECK(unequal == 0);
}

TEST_CASE("encode turns: sums wrap at a turn, negation gives the opposite angle") {
    const Turns a = turns_of_double(4.0), b = turns_of_double(5.0), sum = add_turns(a, b);
    const SinCos64 at = sincos64_of_turns(sum);
    CHECK(at.sine == doctest::Approx(std::sin(9.0)).epsilon(1e-14));
    CHECK(at.cosine == doctest::Approx(std::cos(9.0)).epsilon(1e-14));
    const Turns none = add_turns(a, minus_turns(a));
    CHECK(none.high == 0);
    CHECK(none.low == 0);
    const Turns zero = minus_turns(Turns{0, 0});
    CHECK(zero.high == 0);
    CHECK(zero.low == 0);
}
