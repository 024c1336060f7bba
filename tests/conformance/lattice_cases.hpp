// SPDX-License-Identifier: Apache-2.0
// The table of lattice codes: codes of every kind, on vectors with many ties, far outside, dithered and
// padded.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include <weft/ops/lattice.hpp>

#include "support/lattice_oracle.hpp"

namespace weft_test {

struct LatticeCase {
    const char* name;
    LatticeCode code;
    std::vector<float> x;
    std::size_t width = 0;
    bool judged = true;  ///< compared with the oracle, which is slow; otherwise all places must agree
    bool finite = true;  ///< otherwise calls on host memory throw when they are done
};

/// `every_code`: cases with ties have all bases and levels, otherwise a selection of them. Each code is
/// compiled separately, which takes a software device longer than running it.
inline std::vector<LatticeCase> lattice_cases(bool every_code) {
    constexpr Lattice kLattices[] = {Lattice::z2, Lattice::d4, Lattice::e8};
    std::vector<LatticeCase> cases;
    for (const Lattice lattice : kLattices) {
        const std::size_t d = dimension(lattice);
        for (const std::uint32_t q : {3u, 4u, 5u, 7u, 16u})
            for (const std::uint32_t levels : {1u, 2u, 3u, 4u})
                for (const bool packed : {false, true}) {
                    const bool chosen =
                        (q == 4 && levels == 2 && packed) || (q == 3 && levels == 3 && packed) ||
                        (q == 5 && levels == 1 && packed) || (q == 7 && levels == 2 && !packed) ||
                        (q == 16 && levels == 4 && packed);
                    if (!every_code && !chosen) continue;
                    const auto range =
                        static_cast<float>(std::bit_floor(static_cast<unsigned>(std::pow(q, levels))));
                    cases.push_back(
                        {"ties",
                         {.lattice = lattice, .q = q, .levels = levels, .max_retries = 3, .packed = packed},
                         dyadic_values(131 * d, range, q + levels)});
                }
        for (const std::uint32_t q : {3u, 4u, 5u, 16u})
            for (const std::uint32_t levels : {1u, 2u, 3u})
                for (const float range : {64.0f, 1024.0f, 32768.0f})
                    cases.push_back(
                        {"far outside, by every coordinate",
                         {.lattice = lattice, .q = q, .levels = levels, .beta = 0.5f, .packed = q == 4},
                         dyadic_values(64 * d, range, q + levels)});
        cases.push_back(
            {"retries", {.lattice = lattice, .max_retries = 10}, dyadic_values(64 * d, 512.0f, 3)});
        // Up to 94 retries, after which a product of roundings differs from the rounded power. No vector of
        // E8 is so near to a tie that the oracle cannot tell.
        for (const auto& [alpha, most, range] :
             {std::tuple{0.25f, 19u, 64.0f}, {0.1f, 100u, 2048.0f}, {0.7f, 8u, 512.0f}, {3.0f, 21u, 4e9f}})
            for (const std::uint32_t q : {4u, 5u})
                cases.push_back(
                    {"retries of other steps than 1",
                     {.lattice = lattice, .q = q, .beta = 0.7f, .alpha = alpha, .max_retries = most},
                     dyadic_values(32 * d, range, 9)});
        LatticeCode dithered{.lattice = lattice,
                             .q = 8,
                             .beta = 0.25f,
                             .max_retries = 4,
                             .packed = true,
                             .dither_seed = 0xfedcba9876543210u,
                             .dither_first = 0xfffffff0u};
        cases.push_back({"dither", dithered, dyadic_values(100 * d, 4.0f, 21)});
        dithered.q = 5;
        dithered.levels = 3;
        dithered.beta = 0.35f;
        cases.push_back({"many, dithered", dithered, normal_values(5003 * 8, 5), 0, false});
        cases.push_back({"many, dithered, in rows that end within a vector", dithered,
                         normal_values(19 * 701, 6), 19, false});
        // A denormal number that is flushed has no sign, so its sign must not matter on other devices either.
        for (const float tiny : {1e-45f, -1e-45f, 1e-39f, -1e-39f})
            cases.push_back({"denormal numbers", {.lattice = lattice}, {tiny, 1, 0, tiny, 0, 0, 0, 0}});
        std::vector<float> x = dyadic_values(8 * 64, 6, 9);
        x[3] = std::numeric_limits<float>::quiet_NaN();
        x[70] = std::numeric_limits<float>::infinity();
        x[200] = -std::numeric_limits<float>::infinity();
        x[300] = 3e38f;
        for (const std::uint32_t q : {4u, 5u})
            cases.push_back({"values that are not finite",
                             {.lattice = lattice, .q = q, .max_retries = 3},
                             x,
                             0,
                             false,
                             false});
    }
    // Too large for any number of retries; the decoded value must still be in range.
    cases.push_back({"overload after all retries", {.max_retries = 10}, {1e6f, 0, 0, 0}});
    cases.push_back(
        {"largest numbers", {.max_retries = 10}, {std::numeric_limits<float>::max(), -1e38f, 0, 1e-45f}});
    const struct {
        Lattice lattice;
        std::size_t width, rows;
    } shapes[] = {{Lattice::z2, 1, 35},  {Lattice::z2, 7, 21},  {Lattice::d4, 3, 19},  {Lattice::d4, 10, 33},
                  {Lattice::d4, 12, 5},  {Lattice::e8, 5, 9},   {Lattice::e8, 100, 7}, {Lattice::e8, 16, 3},
                  {Lattice::z2, 13, 77}, {Lattice::d4, 13, 77}, {Lattice::e8, 13, 77}};
    for (const auto& s : shapes)
        cases.push_back({"rows whose last vector is padded",
                         {.lattice = s.lattice, .max_retries = 2, .packed = true},
                         dyadic_values(s.width * s.rows, 16.0f, s.width),
                         s.width});
    return cases;
}

/// Codes whose rows are multiplied without decoding them.
struct LatticeInnerCase {
    LatticeCode code;
    std::size_t width, rows;
};
inline std::vector<LatticeInnerCase> lattice_inner_cases() {
    return {{{.packed = true}, 4, 500},
            {{.packed = true}, 64, 33},
            {{.beta = 0.5f}, 12, 501},
            {{.beta = 0.5f, .packed = true}, 12, 501},
            {{.q = 3, .levels = 3}, 10, 21},
            {{.q = 5, .levels = 1, .packed = true}, 7, 19},
            {{.lattice = Lattice::z2, .q = 16, .levels = 2, .packed = true}, 9, 40},
            {{.lattice = Lattice::z2, .q = 3, .levels = 1, .packed = true}, 2, 77}};
}

}  // namespace weft_test
