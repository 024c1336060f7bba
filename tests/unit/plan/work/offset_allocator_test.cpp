// SPDX-License-Identifier: Apache-2.0
#include "plan/work/offset_allocator.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

using weft::core::flush_range;
using weft::core::MappedRange;
using weft::core::OffsetAllocator;

TEST_CASE("a block allocates every byte once and frees it") {
    OffsetAllocator block(256);
    CHECK(block.empty());
    CHECK(block.size() == 256);
    CHECK(block.largest_free() == 256);
    CHECK(block.allocate(256, 1) == 0u);  // exact fit
    CHECK(block.used() == 256);
    CHECK(block.largest_free() == 0);
    CHECK_FALSE(block.allocate(1, 1).has_value());
    block.release(0, 256);
    CHECK(block.empty());
    CHECK(block.largest_free() == 256);
    CHECK_FALSE(block.allocate(257, 1).has_value());
    CHECK_FALSE(block.allocate(0, 1).has_value());
    CHECK_FALSE(OffsetAllocator(0).allocate(1, 1).has_value());
}

TEST_CASE("free neighbours are joined in any order of release") {
    std::vector<int> order = {0, 1, 2, 3};
    do {
        OffsetAllocator block(64);
        for (std::uint64_t i = 0; i < 4; ++i) REQUIRE(block.allocate(16, 1) == 16 * i);
        for (const int i : order) block.release(static_cast<std::uint64_t>(i) * 16, 16);
        CHECK(block.largest_free() == 64);
        CHECK(block.allocate(64, 64) == 0u);
    } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("the smallest range that fits is taken") {
    OffsetAllocator block(100);
    REQUIRE(block.allocate(30, 1) == 0u);
    REQUIRE(block.allocate(10, 1) == 30u);
    REQUIRE(block.allocate(20, 1) == 40u);
    REQUIRE(block.allocate(10, 1) == 60u);  // 30 bytes stay free at 70
    block.release(40, 20);
    block.release(0, 30);
    CHECK(block.allocate(20, 1) == 40u);
    CHECK(block.allocate(25, 1) == 0u);
}

TEST_CASE("the gap before an aligned range stays usable") {
    OffsetAllocator block(256);
    REQUIRE(block.allocate(1, 1) == 0u);
    CHECK(block.allocate(64, 64) == 64u);
    CHECK(block.used() == 65);
    CHECK(block.allocate(63, 1) == 1u);
    CHECK_FALSE(block.allocate(128, 256).has_value());  // would have to start at 0
    CHECK(block.allocate(128, 128) == 128u);
    CHECK(block.used() == block.size());
    OffsetAllocator large(~std::uint64_t{0});
    REQUIRE(large.allocate(1, 1) == 0u);
    CHECK(large.allocate(16, std::uint64_t{1} << 63) == std::uint64_t{1} << 63);
    CHECK_FALSE(large.allocate(16, std::uint64_t{1} << 63).has_value());
}

namespace {

/// The same block as a map of bytes, which is slow and simple.
struct ByteMap {
    std::vector<bool> taken;

    bool fits(std::size_t bytes, std::size_t alignment) const {
        for (std::size_t at = 0; at + bytes <= taken.size(); at += alignment)
            if (is_free(at, bytes)) return true;
        return false;
    }
    bool is_free(std::size_t at, std::size_t bytes) const {
        for (std::size_t i = at; i < at + bytes; ++i)
            if (taken[i]) return false;
        return true;
    }
    void set(std::size_t at, std::size_t bytes, bool value) {
        for (std::size_t i = at; i < at + bytes; ++i) taken[i] = value;
    }
    std::size_t longest_free() const {
        std::size_t best = 0, run = 0;
        for (const bool byte : taken) best = std::max(best, run = byte ? 0 : run + 1);
        return best;
    }
};

}  // namespace

TEST_CASE("random use agrees with a map of bytes") {
    constexpr std::size_t kSize = 509;  // a prime, which no size divides
    std::mt19937 random(20240607);
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    std::size_t refused = 0, served = 0;
    for (int round = 0; round < 20; ++round) {
        OffsetAllocator block(kSize);
        ByteMap model{std::vector<bool>(kSize, false)};
        std::vector<std::pair<std::size_t, std::size_t>> live;
        for (int step = 0; step < 400; ++step) {
            if (live.empty() || below(5) < 3) {
                const std::size_t bytes = 1 + below(below(4) == 0 ? 120 : 24),
                                  alignment = std::size_t{1} << below(7);
                const auto offset = block.allocate(bytes, alignment);
                REQUIRE(offset.has_value() == model.fits(bytes, alignment));
                if (!offset && ++refused > 0) continue;
                ++served;
                REQUIRE(*offset % alignment == 0);
                REQUIRE(*offset + bytes <= kSize);
                REQUIRE(model.is_free(*offset, bytes));
                model.set(*offset, bytes, true);
                live.emplace_back(*offset, bytes);
            } else {
                std::swap(live[below(live.size())], live.back());
                block.release(live.back().first, live.back().second);
                model.set(live.back().first, live.back().second, false);
                live.pop_back();
            }
            REQUIRE(block.largest_free() == model.longest_free());
            REQUIRE(block.used() ==
                    static_cast<std::size_t>(std::count(model.taken.begin(), model.taken.end(), true)));
        }
        for (const auto& [offset, bytes] : live) block.release(offset, bytes);
        CHECK(block.empty());
        CHECK(block.largest_free() == kSize);
    }
    CHECK(refused > 100);
    CHECK(served > 1000);
}

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
