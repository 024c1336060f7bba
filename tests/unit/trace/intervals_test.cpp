// SPDX-License-Identifier: Apache-2.0
#include "trace/intervals.hpp"

#include <doctest/doctest.h>

#include <limits>

using weft::core::Interval;
using weft::core::overlap_length;
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
        {{{5, 4}, {1, 2}, {nan, 3}}, 1},  // invalid ones do not affect others
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
        {{{{0, 4}}, {{1, 3}}, {{2, 6}}}, 3},           // three simultaneous ones count once
        {{{{0, 1}, {1, 2}}, {{0.5, 1.5}}}, 1},         // seam inside one set
        {{{{0, 1}}, {{2, 3}}, {{4, 5}}}, 0},
        {{{{3, 1}}, {{0, 5}}}, 0},  // reversed is empty
    };
    for (const auto& c : cases) CHECK(overlap_length(c.sets) == doctest::Approx(c.expected));
}

TEST_CASE("intersection_length is the time in which both sets run") {
    const struct {
        Set a, b;
        double expected;
    } cases[] = {
        {{}, {}, 0},
        {{{0, 10}}, {}, 0},
        {{{0, 10}}, {{10, 20}}, 0},
        {{{0, 10}}, {{2, 4}, {6, 20}}, 6},
        {{{0, 10}, {10, 20}}, {{10, 18}, {20, 28}}, 8},
        {{{0, 4}, {2, 6}}, {{1, 5}, {3, 5}}, 4},  // overlap inside one set counts once
        {{{5, 5}, {9, 1}}, {{0, 10}}, 0},         // empty ones
        {{{0, 1}, {2, 3}, {4, 5}}, {{0, 5}}, 3},
    };
    for (const auto& c : cases) {
        CHECK(weft::core::intersection_length(c.a, c.b) == doctest::Approx(c.expected));
        CHECK(weft::core::intersection_length(c.b, c.a) == doctest::Approx(c.expected));
    }
}
