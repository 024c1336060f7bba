// SPDX-License-Identifier: Apache-2.0
// Inputs that find wrong carry chains: known answers, and pairs with a carry or borrow at every limb. Random
// values alone do not find a kernel that loses carries into all-ones limbs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "support/field_oracle.hpp"

namespace weft_test {

struct FieldVector {
    const char* id;
    weft::FieldOp op;
    std::string a, b, expected;
};

/// Known answers, computed without this library.
inline std::vector<FieldVector> known_vectors() {
    using enum weft::FieldOp;
    const auto repeat = [](char digit, std::size_t count) { return std::string(count, digit); };
    const std::string p_head =
        "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffff";
    const std::string half =
        "d0088f51cbff34d258dd3db21a5d66bb23ba5c279c2895fb39869507b587b120f55ffff58a9ffffdcff7fffffffd55";
    const std::string carry_a = "5ffffffffffffffff", carry_b = "ffffffffffffffff0000000000000001";
    const std::string carry_sum = "100000000000000050000000000000000";
    const std::string a =
        "1844749c657fb8381ee33321630b613e248a7db7ff206df291333a206624f63e32a9f1b6d8322db6da9bcf184e2c0dc7";
    const std::string b =
        "0ccf40786044756ba4e7abfcb1c55c5dcc0944052ba2f724cc5333d3be7494bf7f25d0add6c34ff5b76a692a3e72c2af";
    return {
        {"T1", add, "7b", "1c8", "243"},
        {"T2", add, p_head + "aaaa", "1", "0"},
        {"T3", add, half + "5", half + "6", "0"},
        {"T4", add, carry_a, carry_b, carry_sum},
        {"T5 halves swapped", add, half + "6", half + "5", "0"},
        {"T5 T4 swapped", add, carry_b, carry_a, carry_sum},
        {"T6", add, repeat('f', 95), "1", "1" + repeat('0', 95)},
        {"T7", add, p_head + "aaaa", p_head + "aaaa", p_head + "aaa9"},
        {"T8", add, p_head + "aaa9", "1", p_head + "aaaa"},
        {"T9", add, "1a0111ea397fe699" + repeat('f', 80), "1", "1a0111ea397fe69a" + repeat('0', 80)},
        {"T10", add, a, b,
         "b12a32a8c44470978af3767d18510c48c1c7638373e5257f6559b532de894d99323c265fda17dacd80738428c9f25cb"},
        {"T11", sub, "64", "c8", p_head + "aa47"},
        {"T12 0-1", sub, "0", "1", p_head + "aaaa"},
        {"T12 0-(p-1)", sub, "0", p_head + "aaaa", "1"},
        {"T12 a-a", sub, a, a, "0"},
        {"T12 long borrow", sub, "1" + repeat('0', 80), repeat('f', 16),
         repeat('f', 64) + "0000000000000001"},
        {"T13", sub, "7" + repeat('0', 16), "ffffffffffffffff0000000000000001",
         "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6231eabfffeb1540007b9feffffffffaaaa"},
        {"T14", sub, a, b,
         "b753424053b42cc79fb8724b14604e0588139b2d37d76cdc4e0064ca7b0617eb3842109016eddc1233165ee0fb94b18"},
        {"neg 0", neg, "0", "0", "0"},
        {"neg 1", neg, "1", "0", p_head + "aaaa"},
        {"neg p-1", neg, p_head + "aaaa", "0", "1"},
        {"neg 64", neg, "64", "0", p_head + "aa47"},
    };
}

/// 2^bit.
inline Number power(std::size_t bit) {
    Number n;
    n.byte[bit / 8] = static_cast<std::uint8_t>(1u << bit % 8);
    return n;
}

/// `value` at bit `bit`, both multiples of 8 bits.
inline Number shifted(std::uint64_t value, std::size_t bit) {
    Number n;
    for (std::size_t i = 0; i < 8 && bit / 8 + i < 48; ++i)
        n.byte[bit / 8 + i] = static_cast<std::uint8_t>(value >> 8 * i);
    return n;
}

/// Pairs of values below p. For limbs of `width` bits (32 or 64), each limb gets carries in and out, borrows
/// in and out, all-ones operands with them, chains from and to it, and sums that differ from p only in it.
inline std::vector<std::pair<Number, Number>> directed_pairs(std::size_t width, const Number& p = fp()) {
    const Number one = power(0);
    const std::uint64_t ones = width == 64 ? ~0ull : 0xffffffffull;
    std::vector<Number> special = {Number{}, one, minus(p, one), minus(p, power(1)), minus(p, power(width))};
    std::vector<std::pair<Number, Number>> pairs;
    for (std::size_t bit = 0; bit < 384; bit += width) {
        special.push_back(power(bit));
        special.push_back(minus(power(bit), one));
        special.push_back(minus(p, power(bit)));
        for (const Number& near : {minus(p, power(bit)), plus(p, power(bit)).first, p})
            for (const Number& part :
                 {one, power(bit), minus(power(bit), one), shifted(0x5a5a5a5a5a5a5a5a, bit)})
                pairs.emplace_back(part, minus(near, part));
        if (bit == 0) continue;
        // A carry from the limb below goes to limbs v + ones, a borrow to v - ones.
        for (const std::uint64_t v : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{5}, ones - 1, ones}) {
            const Number low_ones = shifted(ones, bit - width), low_one = shifted(1, bit - width);
            pairs.emplace_back(plus(shifted(v, bit), low_ones).first,
                               plus(shifted(ones, bit), low_one).first);
            pairs.emplace_back(shifted(v, bit), plus(shifted(ones, bit), low_one).first);
        }
    }
    for (const Number& a : special)
        for (const Number& b : special) pairs.emplace_back(a, b);
    std::vector<std::pair<Number, Number>> both_ways;
    for (const auto& [a, b] : pairs)
        if (less(a, p) && less(b, p)) {
            both_ways.emplace_back(a, b);
            both_ways.emplace_back(b, a);
        }
    return both_ways;
}

/// The directed pairs of both widths as two vectors for a FieldJob.
inline std::pair<std::vector<std::uint64_t>, std::vector<std::uint64_t>> directed_elements() {
    std::pair<std::vector<std::uint64_t>, std::vector<std::uint64_t>> elements;
    for (const std::size_t width : {32u, 64u})
        for (const auto& [a, b] : directed_pairs(width)) {
            append(elements.first, a);
            append(elements.second, b);
        }
    return elements;
}

}  // namespace weft_test
