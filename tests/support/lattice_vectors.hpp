// SPDX-License-Identifier: Apache-2.0
// Known answers for lattice codes, each computed by exact arithmetic and confirmed by enumeration.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/ops/lattice.hpp>

namespace weft_test {

struct LatticeVector {
    const char* id;
    weft::LatticeCode code;
    std::vector<float> x;
    std::vector<int> digits;    // [levels, d]
    std::vector<double> value;  // in units of 1 (not beta)
    std::uint8_t status = 0;
    std::vector<std::uint8_t> packed = {};  // empty if it is not known
};

inline const std::vector<LatticeVector>& lattice_vectors() {
    using weft::Lattice;
    constexpr auto z2 = Lattice::z2, e8 = Lattice::e8;
    constexpr std::uint8_t kOver = 0x80;
    static const std::vector<LatticeVector> all = {
        {"z2 unique", {.lattice = z2}, {3.6f, -2.2f}, {0, 2, 1, 0}, {4, -2}, 0, {0x18}},
        {"z2 -2", {.lattice = z2}, {-2, 0}, {2, 0, 0, 0}, {-2, 0}},
        {"z2 +2", {.lattice = z2}, {2, 0}, {2, 0, 1, 0}, {2, 0}},
        {"z2 corner", {.lattice = z2}, {-9.7f, 4.9f}, {2, 1, 2, 1}, {-10, 5}, 0, {0x66}},
        {"z2 overload", {.lattice = z2}, {6, 0}, {2, 0, 2, 0}, {-10, 0}, kOver},
        {"z2 q3", {.lattice = z2, .q = 3, .levels = 3}, {5.2f, -8.9f}, {2, 0, 2, 0, 1, 2}, {5, -9}},
        {"z2 q3 corner", {.lattice = z2, .q = 3, .levels = 3}, {13, -13}, {1, 2, 1, 2, 1, 2}, {13, -13}},
        {"z2 q3 overload",
         {.lattice = z2, .q = 3, .levels = 3},
         {14, 0},
         {2, 0, 2, 0, 2, 0},
         {-13, 0},
         kOver},
        {"d4 unique", {}, {0.6f, -1.1f, 1.7f, 0.1f}, {3, 0, 2, 0, 0, 0, 0, 0}, {1, -1, 2, 0}},
        {"d4 beta",
         {.beta = 0.35f},
         {0.6f, -1.1f, 1.7f, 0.1f},
         {2, 0, 3, 0, 0, 0, 3, 0},
         {2, -3, 5, 0},
         0,
         {0x32, 0x30}},
        {"d4 two levels",
         {},
         {2.4f, -3.3f, 1.2f, 0.4f},
         {0, 2, 3, 0, 0, 1, 0, 0},
         {2, -3, 1, 0},
         0,
         {0x38, 0x04}},
        {"d4 all digits",
         {},
         {-5.2f, 3.1f, 0.7f, -2.9f},
         {2, 1, 2, 3, 1, 3, 1, 1},
         {-5, 3, 1, -3},
         0,
         {0xe6, 0x5d}},
        {"d4 deep hole", {}, {.5f, .5f, .5f, .5f}, {2, 3, 2, 3, 0, 0, 0, 0}, {1, 1, 1, 1}},
        {"d4 odd point", {}, {1, 0, 0, 0}, {3, 1, 0, 0, 0, 0, 0, 0}, {2, 0, 0, 0}},
        {"d4 q3",
         {.q = 3, .levels = 3},
         {5.1f, -2.2f, 0.3f, 7.4f},
         {1, 0, 2, 2, 2, 0, 1, 1, 2, 0, 2, 2},
         {5, -2, 0, 7}},
        {"d4 q3 tie of levels", {.q = 3}, {2, 1, 1, 0}, {1, 0, 2, 0, 0, 0, 0, 0}, {2, 1, 1, 0}},
        {"e8 whole",
         {.lattice = e8},
         {-1.2f, 3.4f, .6f, -2.7f, 1.1f, .2f, -.9f, 2},
         {1, 1, 0, 1, 2, 3, 1, 0, 0, 0, 3, 3, 0, 0, 0, 0},
         {-1, 3, 1, -3, 1, 0, -1, 2},
         0,
         {0x45, 0x1e, 0xf0, 0x00}},
        {"e8 half",
         {.lattice = e8},
         {2.4f, -1.6f, .6f, 1.4f, -.4f, 3.5f, -2.6f, .5f},
         {0, 2, 0, 0, 3, 0, 1, 1, 2, 0, 1, 2, 2, 3, 3, 1},
         {2.5, -1.5, .5, 1.5, -.5, 3.5, -2.5, .5},
         0,
         {0x08, 0x53, 0x92, 0x7e}},
        {"e8 q3",
         {.lattice = e8, .q = 3, .levels = 3},
         {2.4f, -1.6f, .6f, 1.4f, -.4f, 3.5f, -2.6f, .5f},
         {0, 1, 0, 0, 2, 0, 0, 1, 1, 1, 1, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0},
         {2.5, -1.5, .5, 1.5, -.5, 3.5, -2.5, .5}},
        {"e8 beta",
         {.lattice = e8, .beta = 0.3f},
         {.3f, -.2f, .9f, -.4f, .05f, .6f, -.75f, .1f},
         {1, 1, 2, 3, 0, 0, 2, 0, 2, 0, 1, 1, 2, 3, 3, 1},
         {1, -1, 3, -1, 0, 2, -2, 0},
         0,
         {0xe5, 0x20, 0x52, 0x7e}},
        {"e8 tie of cosets",
         {.lattice = e8},
         {.25f, .25f, .25f, .25f, .25f, .25f, .25f, .25f},
         {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0},
         {.5, .5, .5, .5, .5, .5, .5, .5}},
        {"z2 q3 retries",
         {.lattice = z2, .q = 3, .beta = .5f, .max_retries = 10},
         {20.3f, 20.4f},
         {0, 0, 1, 1},
         {48, 48},
         4},
        {"z2 retries", {.lattice = z2, .max_retries = 10}, {20.3f, 20.4f}, {1, 1, 1, 1}, {20, 20}, 2},
        {"d4 retries",
         {.max_retries = 10},
         {20.3f, -17.2f, 3.3f, 40},
         {2, 3, 1, 2, 3, 0, 2, 2},
         {20, -16, 4, 40},
         2},
        {"e8 retries",
         {.lattice = e8, .max_retries = 10},
         {100, -50, 25, 12, 6, 3, 1, 0},
         {3, 0, 3, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0},
         {96, -48, 32, 16, 0, 0, 0, 0},
         4},
        // Powers of 2^alpha are rounded once, whatever the number of retries: 2^3, 2^4.75 and, because 0.1 is
        // not a float, 2^10.00000015.
        {"z2 retries of a quarter",
         {.lattice = z2, .alpha = 0.25f, .max_retries = 12},
         {40, 0},
         {1, 0, 1, 0},
         {40, 0},
         12},
        {"z2 more retries of a quarter",
         {.lattice = z2, .alpha = 0.25f, .max_retries = 19},
         {134.5434f, 0},
         {1, 0, 1, 0},
         {5 * 26.908685684204102, 0},
         19},
        {"z2 as many retries as there may be",
         {.lattice = z2, .alpha = 0.1f, .max_retries = 100},
         {5529.6f, 0},
         {1, 0, 1, 0},
         {5 * 1024.0001220703125, 0},
         100},
        {"z2 zero", {.lattice = z2}, {0, 0}, {0, 0, 0, 0}, {0, 0}},
        {"d4 zero", {.max_retries = 10}, {0, 0, 0, 0}, {0, 0, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 0}},
        {"e8 zero",
         {.lattice = e8},
         {0, 0, 0, 0, 0, 0, 0, 0},
         {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
         {0, 0, 0, 0, 0, 0, 0, 0}},
    };
    return all;
}

/// The values of codes with all digits q - 1, and the values of the coarse level alone.
struct LatticeDecodeVector {
    const char* id;
    weft::LatticeCode code;
    std::vector<std::uint8_t> digits;
    std::uint32_t depth;
    std::vector<float> value;
};

inline const std::vector<LatticeDecodeVector>& lattice_decode_vectors() {
    using weft::Lattice;
    constexpr auto z2 = Lattice::z2, e8 = Lattice::e8;
    static const std::vector<LatticeDecodeVector> all = {
        {"z2 threes", {.lattice = z2}, std::vector<std::uint8_t>(4, 3), 2, {-5, -5}},
        {"d4 threes", {}, std::vector<std::uint8_t>(8, 3), 2, {0, 5, 0, 5}},
        {"e8 threes",
         {.lattice = e8},
         std::vector<std::uint8_t>(16, 3),
         2,
         {-7.5, -2.5, -2.5, -2.5, -2.5, -2.5, -7.5, -2.5}},
        {"z2 twos", {.lattice = z2, .q = 3, .levels = 3}, std::vector<std::uint8_t>(6, 2), 3, {-13, -13}},
        {"d4 twos", {.q = 3, .levels = 3}, std::vector<std::uint8_t>(12, 2), 3, {0, 13, 0, 13}},
        {"e8 twos",
         {.lattice = e8, .q = 3, .levels = 3},
         std::vector<std::uint8_t>(24, 2),
         3,
         {-19.5, -6.5, -6.5, -6.5, -6.5, -6.5, -19.5, -6.5}},
        {"d4 coarse", {}, {0, 2, 3, 0, 0, 1, 0, 0}, 1, {4, -4, 0, 0}},
        {"d4 coarse negative", {}, {2, 1, 2, 3, 1, 3, 1, 1}, 1, {-8, 4, 0, -4}},
    };
    return all;
}

}  // namespace weft_test
