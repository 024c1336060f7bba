// SPDX-License-Identifier: Apache-2.0
// The error that a call throws: its whole text, or a part of it.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include <weft/error.hpp>

namespace weft_test {

/// Fails the test if nothing, or an Error of another code, is thrown.
template <class Call>
std::string error_text(weft::Errc code, Call&& call) {
    try {
        call();
    } catch (const weft::Error& error) {
        CHECK(std::string(weft::to_string(error.code())) == weft::to_string(code));
        return error.what();
    }
    FAIL_CHECK("nothing was thrown");
    return {};
}

/// Fails the test unless the call throws an Error with `code` whose text contains `part`.
template <class Call>
void check_error(weft::Errc code, std::string_view part, Call&& call) {
    const std::string text = error_text(code, call);
    CAPTURE(text);
    CHECK(text.find(part) != std::string::npos);
}

}  // namespace weft_test
