// SPDX-License-Identifier: Apache-2.0
// Arithmetic modulo the BLS12-381 prime, byte by byte and with a comparison for every reduction. It is slow,
// and shares neither code nor limb size with the kernels that it judges.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <weft/weft.hpp>

namespace reference {

/// 48 bytes, least significant first.
using Number = std::array<std::uint8_t, 48>;
using Limbs = std::vector<std::uint64_t>;

inline Number number(std::string_view hex) {
    Number n{};
    for (std::size_t i = 0; i < hex.size(); ++i) {
        const auto digit = std::string_view("0123456789abcdef").find(hex[hex.size() - 1 - i]);
        n[i / 2] = static_cast<std::uint8_t>(n[i / 2] | digit << (i % 2 * 4));
    }
    return n;
}

inline const Number kP = number(
    "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab");

/// x + sign * y modulo 2^384.
inline Number combine(const Number& x, const Number& y, int sign) {
    Number r{};
    int carry = 0;
    for (std::size_t i = 0; i < r.size(); ++i) {
        const int v = x[i] + sign * y[i] + carry;
        r[i] = static_cast<std::uint8_t>(v & 255);
        carry = v >> 8;
    }
    return r;
}

inline Number plus(const Number& x, const Number& y) {
    return combine(x, y, 1);
}
inline Number minus(const Number& x, const Number& y) {
    return combine(x, y, -1);
}

inline bool less(const Number& x, const Number& y) {
    for (std::size_t i = x.size(); i-- > 0;)
        if (x[i] != y[i]) return x[i] < y[i];
    return false;
}

/// The right result for x and y below p; neg ignores y.
inline Number result(weft::FieldOp op, const Number& x, const Number& y) {
    if (op == weft::FieldOp::neg) return result(weft::FieldOp::sub, Number{}, x);
    if (op == weft::FieldOp::sub) return less(x, y) ? minus(plus(x, kP), y) : minus(x, y);
    const Number sum = plus(x, y);
    return less(sum, kP) ? sum : minus(sum, kP);
}

inline void append(Limbs& limbs, const Number& n) {
    for (std::size_t first = 0; first < n.size(); first += 8) {
        std::uint64_t limb = 0;
        for (std::size_t i = 8; i-- > 0;) limb = limb << 8 | n[first + i];
        limbs.push_back(limb);
    }
}

/// Operands of one job and the right output; b stays empty for neg.
struct Sample {
    weft::FieldOp op = weft::FieldOp::add;
    Limbs a, b, want;

    void add(const Number& x, const Number& y) {
        append(a, x);
        if (op != weft::FieldOp::neg) append(b, y);
        append(want, result(op, x, y));
    }
};

inline Number random_number(std::mt19937_64& random) {
    Number n;
    do {
        for (std::uint8_t& byte : n) byte = static_cast<std::uint8_t>(random() >> 56);
        n.back() &= 0x1f;
    } while (!less(n, kP));
    return n;
}

inline Sample random_sample(weft::FieldOp op, std::size_t count, std::mt19937_64& random) {
    Sample sample{op, {}, {}, {}};
    for (std::size_t i = 0; i < count; ++i) {
        const Number x = random_number(random), y = random_number(random);
        sample.add(x, y);
    }
    return sample;
}

}  // namespace reference
