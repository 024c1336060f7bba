// SPDX-License-Identifier: Apache-2.0
#include "plan/work/mapped_range.hpp"

#include <doctest/doctest.h>

using weft::core::flush_range;
using weft::core::MappedRange;

TEST_CASE("flush_range rounds out to atoms and stays inside the allocation") {
    constexpr std::uint64_t kTop = ~std::uint64_t{0};
    const struct {
        const char* what;
        std::uint64_t offset, bytes, atom, allocation;
        MappedRange expected;
    } cases[] = {
        {"already whole atoms", 64, 128, 64, 1024, {64, 128}},
        {"begin rounded down", 70, 58, 64, 1024, {64, 64}},
        {"end rounded up", 64, 65, 64, 1024, {64, 128}},
        {"both", 63, 2, 64, 1024, {0, 128}},
        {"one byte", 100, 1, 64, 1024, {64, 64}},
        {"atom of one", 5, 7, 1, 1024, {5, 7}},
        {"last atom cut short", 960, 30, 64, 1000, {960, 40}},
        {"range up to the end", 0, 1000, 64, 1000, {0, 1000}},
        {"allocation smaller than an atom", 2, 3, 256, 10, {0, 10}},
        {"range beyond the end is clamped", 960, 500, 64, 1000, {960, 40}},
        {"offset beyond the end", 2000, 8, 64, 1024, {1024, 0}},
        {"empty", 70, 0, 64, 1024, {64, 0}},
        {"sum does not overflow", 128, kTop, 64, kTop, {128, kTop - 128}},
        {"rounding up does not overflow", kTop - 70, 10, 64, kTop, {kTop - 127, 127}},
    };
    for (const auto& c : cases) {
        CAPTURE(c.what);
        const MappedRange got = flush_range(c.offset, c.bytes, c.atom, c.allocation);
        CHECK(got.offset == c.expected.offset);
        CHECK(got.bytes == c.expected.bytes);
    }
}
