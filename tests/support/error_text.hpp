// SPDX-License-Identifier: Apache-2.0
// The whole text of the error that a call throws.
#pragma once

#include <doctest/doctest.h>

#include <string>

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

}  // namespace weft_test
