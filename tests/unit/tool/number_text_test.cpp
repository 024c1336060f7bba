// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>

#include "cli/number_text.hpp"

using namespace weft::tool;

namespace {

/// The error of parse_number; empty if there is none.
template <class T>
std::string complaint(const char* word, const Bounds<T>& bounds = {}) try {
    parse_number(word, bounds);
    return {};
} catch (const std::invalid_argument& error) {
    return error.what();
}

}  // namespace

TEST_CASE("whole numbers") {
    using U = std::uint64_t;
    CHECK(parse_number<U>("18446744073709551615", {}) == ~U{0});
    CHECK(parse_number<U>("0", {}) == 0);
    CHECK(parse_number<U>("010", {}) == 10);  // decimal in spite of the leading 0
    CHECK(parse_number<std::int64_t>("-1", {.least = -1}) == -1);
    const std::string any = ", need 0 to 18446744073709551615)";
    CHECK(complaint<U>("18446744073709551616") == "out of range (got 18446744073709551616" + any);
    CHECK(complaint<U>("99999999999999999999999") == "out of range (got 99999999999999999999999" + any);
    CHECK(complaint<U>("-1") == "out of range (got -1" + any);
    CHECK(complaint<U>("") == "not a whole number (got nothing" + any);
    for (const char* word : {"-", "1x", "0x10", "1.0", "1e3", " 1", "1 ", "+1", "-x", "--1", "nan", "1,2"}) {
        CAPTURE(word);
        CHECK(complaint<U>(word) == "not a whole number (got " + std::string(word) + any);
    }
    CHECK(complaint<std::uint32_t>("4294967296") == "out of range (got 4294967296, need 0 to 4294967295)");
    CHECK(complaint<std::uint32_t>("17", {3, 16, "3 to 16, odd ones best"}) ==
          "out of range (got 17, need 3 to 16, odd ones best)");
    CHECK(complaint<std::uint32_t>("2", {3, 16}) == "out of range (got 2, need 3 to 16)");
    CHECK(complaint<int>("-5", {1, 9}) == "out of range (got -5, need 1 to 9)");
}

TEST_CASE("fractions") {
    CHECK(parse_number<double>("-2.5e-3", {}) == -2.5e-3);
    CHECK(parse_number<float>("0.35", {}) == 0.35f);
    CHECK(parse_number<float>("9.094947017729282e-13", {0x1p-40f, 1}) == 0x1p-40f);
    const Bounds<float> beta{0x1p-40f, 0x1p40f, "2^-40 to 2^40"};
    CHECK(complaint<float>("0", beta) == "out of range (got 0, need 2^-40 to 2^40)");
    CHECK(complaint<float>("-0.0", beta) == "out of range (got -0.0, need 2^-40 to 2^40)");
    CHECK(complaint<float>("9.09e-13", beta) == "out of range (got 9.09e-13, need 2^-40 to 2^40)");
    CHECK(complaint<float>("1e39", beta) == "out of range (got 1e39, need 2^-40 to 2^40)");
    CHECK(complaint<double>("1e400") != "");
    CHECK(complaint<double>("1e-400") != "");  // would become 0, which is not the number given
    for (const char* word : {"nan", "NaN", "-nan", "nan(1)", "inf", "-inf", "INFINITY"}) {
        CAPTURE(word);
        CHECK(complaint<float>(word, beta) ==
              "not a finite number (got " + std::string(word) + ", need 2^-40 to 2^40)");
        CHECK(complaint<double>(word) != "");
    }
    for (const char* word : {"", "x", "1x", "1.2.3", "0x1p3", " 1", "+1", "1,5", "infinite", "nano"}) {
        CAPTURE(word);
        CHECK(complaint<float>(word, beta).starts_with("not a number (got "));
    }
}

TEST_CASE("errors name the bounds") {
    CHECK(Bounds<std::uint32_t>{1, 4}.text == "1 to 4");
    CHECK(Bounds<double>{0.01, 86400}.text == "0.01 to 86400");
    CHECK(plain_text(0.85) == "0.85");
    CHECK(plain_text(std::int64_t{-1}) == "-1");
}
