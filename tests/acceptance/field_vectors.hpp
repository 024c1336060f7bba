// SPDX-License-Identifier: Apache-2.0
// Known answers of additions and subtractions over BLS12-381 Fp, computed without weft. Each one finds a
// mistake that random values would not find.
#pragma once

#include <string>
#include <vector>

#include <weft/weft.hpp>

struct KnownAnswer {
    std::string id;  // rows of one id follow each other
    const char* what;
    weft::FieldOp op;
    std::string a, b, expected;
};

inline std::vector<KnownAnswer> known_answers() {
    using enum weft::FieldOp;
    const auto f = [](std::size_t count) { return std::string(count, 'f'); };
    const auto zeros = [](std::size_t count) { return std::string(count, '0'); };
    const std::string p_head =
        "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffff";
    const std::string p_1 = p_head + "aaaa", p_2 = p_head + "aaa9";
    const std::string half =
        "d0088f51cbff34d258dd3db21a5d66bb23ba5c279c2895fb39869507b587b120f55ffff58a9ffffdcff7fffffffd55";
    const std::string ones_low = "5ffffffffffffffff", ones_high = "ffffffffffffffff0000000000000001";
    const std::string ones_sum = "100000000000000050000000000000000";
    const std::string a =
        "1844749c657fb8381ee33321630b613e248a7db7ff206df291333a206624f63e32a9f1b6d8322db6da9bcf184e2c0dc7";
    const std::string b =
        "0ccf40786044756ba4e7abfcb1c55c5dcc0944052ba2f724cc5333d3be7494bf7f25d0add6c34ff5b76a692a3e72c2af";
    return {
        {"T1", "small sum", add, "7b", "1c8", "243"},
        {"T2", "p - 1 and 1 make p", add, p_1, "1", "0"},
        {"T3", "halves make p", add, half + "5", half + "6", "0"},
        {"T4", "carry into an all-ones limb", add, ones_low, ones_high, ones_sum},
        {"T5", "operands swapped", add, half + "6", half + "5", "0"},
        {"T5", "operands swapped", add, ones_high, ones_low, ones_sum},
        {"T6", "carry through five limbs", add, f(95), "1", "1" + zeros(95)},
        {"T7", "largest sum", add, p_1, p_1, p_2},
        {"T8", "largest sum not reduced", add, p_2, "1", p_1},
        {"T9", "top limb that of p, not reduced", add, "1a0111ea397fe699" + f(80), "1",
         "1a0111ea397fe69a" + zeros(80)},
        {"T10", "dense sum, reduced", add, a, b,
         "0b12a32a8c44470978af3767d18510c48c1c7638373e5257f6559b532de894d99323c265fda17dacd80738428c9f25cb"},
        {"T11", "small difference below 0", sub, "64", "c8", p_head + "aa47"},
        {"T12", "edges and long borrows", sub, "0", "1", p_1},
        {"T12", "edges and long borrows", sub, "0", p_1, "1"},
        {"T12", "edges and long borrows", sub, a, a, "0"},
        {"T12", "edges and long borrows", sub, "1" + zeros(80), f(16), f(64) + "0000000000000001"},
        {"T13", "borrow into an all-ones limb", sub, "7" + zeros(16), f(16) + "0000000000000001",
         "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6231eabfffeb1540007b9feffffffffaaaa"},
        {"T14", "dense difference", sub, a, b,
         "0b753424053b42cc79fb8724b14604e0588139b2d37d76cdc4e0064ca7b0617eb3842109016eddc1233165ee0fb94b18"},
    };
}
