// SPDX-License-Identifier: Apache-2.0
#include "core/intervals.hpp"

#include <doctest/doctest.h>

#include <limits>

using weft::core::Interval;
using weft::core::overlap_length;
using weft::core::tick_distance;
using weft::core::union_length;
using Set = std::vector<Interval>;

TEST_CASE("union_length counts time covered once") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const struct {
        Set intervals;
        double expected;
    } cases[] = {
        {{}, 0},
        {{{1, 3}}, 2},
        {{{1, 3}, {3, 4}}, 3},            // touching
        {{{1, 3}, {2, 5}}, 4},            // overlapping
        {{{0, 10}, {2, 3}, {4, 5}}, 10},  // inside
        {{{6, 8}, {1, 2}, {4, 7}}, 5},    // out of order, with gaps
        {{{2, 2}, {5, 4}}, 0},            // empty and reversed
        {{{5, 4}, {1, 2}, {nan, 3}}, 1},  // those do not spoil others
        {{{-2, -1}, {-1.5, 0.5}}, 2.5},   // negative times
    };
    for (const auto& c : cases) CHECK(union_length(c.intervals) == doctest::Approx(c.expected));
}

TEST_CASE("overlap_length counts time in which two different sets run") {
    const struct {
        std::vector<Set> sets;
        double expected;
    } cases[] = {
        {{}, 0},
        {{{{0, 5}}}, 0},
        {{{{0, 5}, {2, 4}}}, 0},      // inside one set
        {{{{0, 5}, {2, 4}}, {}}, 0},  // the other set is empty
        {{{{0, 2}}, {{2, 4}}}, 0},    // touching
        {{{{0, 3}}, {{2, 4}}}, 1},
        {{{{0, 10}}, {{1, 2}, {3, 4}, {3.5, 6}}}, 4},  // union of the second set, not its sum
        {{{{0, 4}}, {{1, 3}}, {{2, 6}}}, 3},           // three at once count once
        {{{{0, 1}, {1, 2}}, {{0.5, 1.5}}}, 1},         // seam inside one set
        {{{{0, 1}}, {{2, 3}}, {{4, 5}}}, 0},
        {{{{3, 1}}, {{0, 5}}}, 0},  // reversed is empty
    };
    for (const auto& c : cases) CHECK(overlap_length(c.sets) == doctest::Approx(c.expected));
}

TEST_CASE("tick_distance survives the wrap of the counter") {
    constexpr std::uint64_t kTop36 = (std::uint64_t{1} << 36) - 1;
    constexpr std::uint64_t kTop64 = ~std::uint64_t{0};
    const struct {
        std::uint64_t begin, end;
        std::uint32_t bits;
        std::uint64_t expected;
    } cases[] = {
        {10, 25, 64, 15},
        {10, 10, 36, 0},
        {kTop36, 0, 36, 1},
        {kTop36 - 4, 5, 36, 10},
        {kTop64, 0, 64, 1},
        {kTop64 - 4, 5, 64, 10},
        {1, 0, 1, 1},
        {0xfffffffe, 3, 32, 5},
        {(std::uint64_t{7} << 36) + 2, 5, 36, 3},  // bits above the valid ones are noise
    };
    for (const auto& c : cases) CHECK(tick_distance(c.begin, c.end, c.bits) == c.expected);
}
