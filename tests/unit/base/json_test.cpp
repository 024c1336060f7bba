// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <locale>
#include <string>

#include <doctest/doctest.h>

#include "base/json.hpp"

namespace {

using weft::core::csv_field;
using weft::core::json_microseconds;
using weft::core::json_number;
using weft::core::json_string;
using weft::core::printable;
using namespace std::string_literals;

const std::string kBad = "\xef\xbf\xbd";

TEST_CASE("strings are escaped exactly") {
    const struct {
        std::string text, json;
    } cases[] = {
        {"", R"("")"},
        {"job 7", R"("job 7")"},
        {"say \"hi\"", R"("say \"hi\"")"},
        {"C:\\a/b", R"("C:\\a/b")"},
        {"a\nb\rc\td", R"("a\nb\rc\td")"},
        {"\0\x01\x1f\x7f"s, R"("\u0000\u0001\u001f\u007f")"},
        {"\b\f\v", R"("\u0008\u000c\u000b")"},
        {"gr\xc3\xbc\xc3\x9f", "\"gr\xc3\xbc\xc3\x9f\""},
        {"\xe2\x82\xac \xf0\x9f\x8e\x89", "\"\xe2\x82\xac \xf0\x9f\x8e\x89\""},
        {"</script>", R"("</script>")"},
    };
    for (const auto& c : cases) CHECK(json_string(c.text) == c.json);
}

TEST_CASE("invalid UTF-8 is replaced byte for byte and does not affect its neighbours") {
    const struct {
        std::string what, text, inner;
    } cases[] = {
        {"a lone continuation byte", "a\x80z", "a" + kBad + "z"},
        {"a cut sequence at the end", "a\xe2\x82", "a" + kBad + kBad},
        {"a cut sequence before a quote", "\xc3\"", kBad + "\\\""},
        {"overlong slash", "\xc0\xaf", kBad + kBad},
        {"overlong of three bytes", "\xe0\x80\x80", kBad + kBad + kBad},
        {"overlong of four bytes", "\xf0\x80\x80\x80", kBad + kBad + kBad + kBad},
        {"a surrogate", "\xed\xa0\x80", kBad + kBad + kBad},
        {"beyond U+10FFFF", "\xf4\x90\x80\x80", kBad + kBad + kBad + kBad},
        {"never a lead byte", "\xff\xfe", kBad + kBad},
        {"the last code point of all", "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},
    };
    for (const auto& c : cases) {
        CAPTURE(c.what);
        CHECK(json_string(c.text) == "\"" + c.inner + "\"");
    }
}

TEST_CASE("numbers are read back unchanged, and numbers that JSON lacks are null") {
    CHECK(json_number(0) == "0");
    CHECK(json_number(0.1) == "0.1");
    CHECK(json_number(-2.5) == "-2.5");
    CHECK(std::stod(json_number(1.0 / 3)) == 1.0 / 3);
    CHECK(json_number(std::numeric_limits<double>::infinity()) == "null");
    CHECK(json_number(std::numeric_limits<double>::quiet_NaN()) == "null");
}

TEST_CASE("microseconds keep every nanosecond") {
    CHECK(json_microseconds(0) == "0.000");
    CHECK(json_microseconds(1) == "0.001");
    CHECK(json_microseconds(1'234'567'890'123'456'789) == "1234567890123456.789");
    CHECK(json_microseconds(-1'500) == "-1.500");
    CHECK(json_microseconds(std::numeric_limits<std::int64_t>::min()) == "-9223372036854775.808");
}

TEST_CASE("CSV fields are quoted where they must be") {
    CHECK(csv_field("saxpy") == "saxpy");
    CHECK(csv_field("a,b") == "\"a,b\"");
    CHECK(csv_field("say \"hi\"") == "\"say \"\"hi\"\"\"");
    CHECK(csv_field("two\nlines") == "\"two\nlines\"");
}

TEST_CASE("CSV fields and lines of a table are UTF-8 without control characters") {
    const std::string replacement = "\xef\xbf\xbd";
    CHECK(csv_field("k\x01\xff \xc3\xbc") == "k" + replacement + replacement + " \xc3\xbc");
    CHECK(csv_field("a,\x1b[2J\xc3") == "\"a," + replacement + "[2J" + replacement + "\"");
    CHECK(csv_field("tab\there") == "tab\there");
    CHECK(printable("k\n\x1b\xff\xc3\xbc\x7f", 28) == "k??" + replacement + "\xc3\xbc?");
    CHECK(printable("abc\xc3\xbc", 5) == "abc\xc3\xbc");
    CHECK(printable("abc\xc3\xbc", 4) == "abc");  // not half a character
    CHECK(printable("ab\xff", 4) == "ab");
    CHECK(printable("", 4).empty());
}

}  // namespace
