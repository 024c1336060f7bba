// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "arrays/text_table.hpp"

using namespace weft;
using namespace weft::tool;

namespace {

std::vector<double> numbers_of(const TextTable& table) {
    std::vector<double> values(table.values.size() / sizeof(double));
    if (!values.empty()) std::memcpy(values.data(), table.values.data(), table.values.size());
    return values;
}

std::string refusal(std::string_view text, ElementType type = kFloat64) {
    try {
        parse_table(text, type);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return {};
}

}  // namespace

TEST_CASE("text table: separators, headers, comments, blanks and ends of lines") {
    for (const char* text : {"1,2\n3,4\n", "1,2\n3,4", "1;2\r\n3;4\r\n", "1\t2\n3\t4\n", "1 2\n3  4\n",
                             "  1   2 \n 3 4\n\n", "a,b\n1,2\n3,4\n", "# 1,2,3\n1, 2\n\n 3,4 \n",
                             "\xef\xbb\xbf"
                             "a b c\n1 2\n3 4\n",
                             "\"a,b\",c\n1,2\n3,4", "1,+2\n3,4\n", "1.0e0,2\n3.,4\n"}) {
        CAPTURE(text);
        const TextTable table = parse_table(text, kFloat64);
        CHECK(table.rows == 2);
        CHECK(table.columns == 2);
        CHECK(numbers_of(table) == std::vector<double>{1, 2, 3, 4});
    }
    CHECK(parse_table("5\n6\n7\n", kFloat64).columns == 1);
}

TEST_CASE("text table: numbers of each type, and what no number of it is") {
    CHECK(parse_table("255,0\n", kUint8).values.size() == 2);
    CHECK(refusal("256\n", kUint8) == "line 1, column 1: out of range (got 256, need uint8)");
    CHECK(refusal("-1\n", kUint64) == "line 1, column 1: not a whole number (got -1, need uint64)");
    CHECK(refusal("1\n1.5\n", kInt64) == "line 2, column 1: not a whole number (got 1.5, need int64)");
    CHECK(refusal("18446744073709551615\n", kUint64).empty());
    CHECK(refusal("1e999\n") == "line 1, column 1: out of range (got 1e999, need float64)");
    // Beyond the range of every type of the machine.
    CHECK(refusal("1e99999\n") == "line 1, column 1: out of range (got 1e99999, need float64)");
    CHECK(numbers_of(parse_table("-1e-99999\n", kFloat64))[0] == 0);
    CHECK(refusal("1,2\n\n# x\n3,abc\n") == "line 4, column 2: not a number (got abc, need float64)");
    CHECK(refusal("1,2\n3,\n") == "line 2, column 2: not a number (got nothing, need float64)");
    CHECK(refusal("1\t2\n\t3\n") == "line 2, column 1: not a number (got nothing, need float64)");
    CHECK(refusal("1,2\n3\n") ==
          "line 2, column 2: a row of another length (got 1 values, need the 2 of line 1)");
    CHECK(refusal("1,x\n") == "line 1, column 2: not a number (got x, need float64)");
    CHECK(refusal("") == "no values (need at least one row of numbers)");
    CHECK(refusal("a,b\n") == "no values (need at least one row of numbers)");
    CHECK(refusal("+-1\n") != "");
    const std::vector<double> few = numbers_of(parse_table("nan,-inf,1e-999,4.9e-324\n", kFloat64));
    CHECK(std::isnan(few[0]));
    CHECK(std::isinf(few[1]));
    CHECK(few[2] == 0);
    CHECK(few[3] == 4.9e-324);
}
