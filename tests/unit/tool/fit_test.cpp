// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <weft/error.hpp>

#include "commands/fit.hpp"

using namespace weft;
using namespace weft::tool;

TEST_CASE("fit: the largest number is found, whatever it is") {
    for (const std::uint64_t answer : {0u, 1u, 2u, 3u, 7u, 8u, 9u, 999u, 1000u})
        CHECK(largest_that_fits(1000, [&](std::uint64_t n) { return n <= answer; }) == answer);
    for (const std::uint64_t most : {1u, 2u, 3u, 1023u, 1024u, 1025u})
        CHECK(largest_that_fits(most, [&](std::uint64_t n) { return n <= most; }) == most);
    CHECK(largest_that_fits(0, [](std::uint64_t) { return true; }) == 0);
    const std::uint64_t huge = std::uint64_t{1} << 58;
    CHECK(largest_that_fits(huge, [](std::uint64_t) { return true; }) == huge);
}

TEST_CASE("fit: a number that a plan refuses does not fit, and none beyond the most is asked for") {
    const auto plan = [](std::uint64_t n) {
        CHECK(n <= 1000);
        if (n > 77) throw Error(Errc::invalid_argument, "plan: too many");
        return true;
    };
    CHECK(largest_that_fits(1000, plan) == 77);
}
