// SPDX-License-Identifier: Apache-2.0
// The totals of MemoryReport by name: what is counted, and how long names are kept.
#include <string>

#include <doctest/doctest.h>

#include "base/name_totals.hpp"

using weft::core::NameTotals;

TEST_CASE("names: live, peak and count; the peak stays when nothing is live") {
    NameTotals names;
    names.add("a", 100);
    names.add("a", 50);
    names.add("b", 7);
    names.remove("a", 100);
    CHECK(names.entries().at("a").total.live == 50);
    CHECK(names.entries().at("a").total.peak == 150);
    CHECK(names.entries().at("a").total.count == 1);
    names.remove("a", 50);
    CHECK(names.entries().at("a").total.live == 0);
    CHECK(names.entries().at("a").total.peak == 150);
    CHECK(names.entries().at("a").total.count == 0);
    CHECK(names.entries().at("b").total.live == 7);
    names.add("a", 10);  // alive again
    CHECK(names.entries().at("a").total.peak == 150);
    CHECK(names.entries().at("a").total.count == 1);
}

TEST_CASE("names: removing an unknown name changes nothing") {
    NameTotals names;
    names.remove("never", 5);
    CHECK(names.entries().empty());
    names.add("once", 5);
    names.remove("once", 5);
    names.remove("once", 5);
    CHECK(names.entries().at("once").total.live == 0);
    CHECK(names.entries().at("once").total.count == 0);
}

TEST_CASE("names: idle ones are bounded, the one longest idle goes first; live ones always stay") {
    NameTotals names;
    names.add("live", 1);
    const auto name = [](std::size_t i) { return "n" + std::to_string(i); };
    constexpr std::size_t kMost = NameTotals::kMostIdle;
    for (std::size_t i = 0; i < kMost; ++i) {
        names.add(name(i), 1);
        names.remove(name(i), 1);
    }
    CHECK(names.entries().size() == kMost + 1);
    // It is used again, so it becomes the most recent idle name.
    names.add(name(0), 1);
    names.remove(name(0), 1);
    names.add("new", 1);
    names.remove("new", 1);
    CHECK(names.entries().size() == kMost + 1);
    CHECK(names.entries().count(name(0)) == 1);
    CHECK(names.entries().count(name(1)) == 0);
    CHECK(names.entries().count("new") == 1);
    CHECK(names.entries().count("live") == 1);
    for (std::size_t i = 0; i < 3 * kMost; ++i) names.add("many" + std::to_string(i), 1);
    CHECK(names.entries().size() == 4 * kMost + 1);
    for (std::size_t i = 0; i < 3 * kMost; ++i) names.remove("many" + std::to_string(i), 1);
    CHECK(names.entries().size() == kMost + 1);
    CHECK(names.entries().at("live").total.live == 1);
}
