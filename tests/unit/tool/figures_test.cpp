// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "cli/figures.hpp"

using namespace weft::tool;

TEST_CASE("readable numbers") {
    CHECK(grouped(0) == "0");
    CHECK(grouped(999) == "999");
    CHECK(grouped(1000) == "1,000");
    CHECK(grouped(1234567) == "1,234,567");
    CHECK(si(7.163e6) == "7.16 M");
    CHECK(si(999.7) == "1.00 K");
    CHECK(si(0.5) == "0.50");
    CHECK(si(0) == "0.00");
    CHECK(si(0.0123) == "0.0123");
    CHECK(si(0.00099999) == "0.00100");
    CHECK(si(12.34, "pairs/s") == "12.3 pairs/s");
    CHECK(si(45000, "B/s") == "45.0 KB/s");
    CHECK(si(57.3e9, "B/s") == "57.3 GB/s");
    CHECK(duration(1.234e-5) == "12.3 us");
    CHECK(duration(0.9999) == "1.00 s");
    CHECK(duration(75) == "75.0 s");
    CHECK(percent(0.834) == "83 %");
    CHECK(percent(0.0012) == "0.1 %");
    CHECK(percent(0.0004) == "<0.1 %");  // small, but not 0
    CHECK(percent(0) == "0.0 %");
    CHECK(factor(12.34) == "12.3x");
    CHECK(factor(1234) == "1234x");
    CHECK(nine_digits(1.0 / 3) == "0.333333333");
    CHECK(nine_digits(1234567890.0) == "1.23456789e+09");
    CHECK(nine_digits(-0.6) == "-0.6");
}
