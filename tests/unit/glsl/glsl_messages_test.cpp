// SPDX-License-Identifier: Apache-2.0
#include "glsl/messages.hpp"

#include <doctest/doctest.h>

using namespace weft::glsl;

TEST_CASE("glsl messages: lines of the compiler are parsed") {
    const struct {
        const char* output;
        std::vector<Message> messages;
    } cases[] = {
        {"", {}},
        {"\n\r\n", {}},
        {"a.comp:4: error: 'x' : undeclared identifier\n",
         {{"a.comp:4", true, "'x' : undeclared identifier"}}},
        {"a.comp:4: warning: odd\r\n", {{"a.comp:4", false, "odd"}}},
        {"a.comp: error: no main", {{"a.comp", true, "no main"}}},
        {"C:/a: b.comp:12: error: x", {{"C:/a: b.comp:12", true, "x"}}},
        {"a:1: warning: says: error: no", {{"a:1", false, "says: error: no"}}},
        {"a:1: error: no body:\na:1:     f(\n\na:2: error: y",
         {{"a:1", true, "no body:\na:1:     f("}, {"a:2", true, "y"}}},
        {"shaderc: internal error: it\nfailed\n", {{"", true, "shaderc: internal error: it\nfailed"}}},
    };
    for (const auto& c : cases) {
        CAPTURE(std::string(c.output));
        CHECK(parse_messages(c.output) == c.messages);
    }
}

TEST_CASE("glsl messages: an error text starts with the first error and leaves nothing out") {
    const std::vector<Message> mixed{
        {"a:1", false, "odd"}, {"b:7", true, "wrong"}, {"b:8", true, "worse"}, {"a:9", false, "odder"}};
    CHECK(error_text(mixed, "a") ==
          "compile_glsl: b:7: wrong\nb:8: worse\na:1: warning: odd\na:9: warning: odder");
    CHECK(warning_text(mixed) == "a:1: warning: odd\na:9: warning: odder");
    CHECK(error_text({{"", true, "internal error"}}, "a") == "compile_glsl: a: internal error");
    CHECK(error_text({}, "a") == "compile_glsl: a: the compiler failed without a reason");
    CHECK(error_text({{"a:1", false, "odd"}}, "a") ==
          "compile_glsl: a: the compiler failed without a reason\na:1: warning: odd");
    CHECK(warning_text({{"a", true, "wrong"}}) == "");
}

TEST_CASE("glsl messages: thousands of lines become a readable text") {
    std::vector<Message> many(5000, {"a:1", true, "wrong"});
    many.push_back({"a:2", true, std::string(100000, 'x')});
    std::string text = error_text(many, "a");
    CHECK(text.size() < 1000);
    CHECK(text.ends_with("\n4951 more"));
    text = error_text({many.back()}, "a");
    CHECK(text.size() < 2100);
    CHECK(text.ends_with("xxx ..."));
}
