// SPDX-License-Identifier: Apache-2.0
// Errors of both back ends beside each other.
#pragma once

#include <string>

#include <doctest/doctest.h>

#include <weft/error.hpp>

namespace weft_test {

template <class Call>
std::string error_of(const Call& call) {
    try {
        call();
    } catch (const weft::Error& error) {
        return std::string(weft::to_string(error.code())) + ": " + error.what();
    }
    return "no error";
}

/// Both calls must be refused for the same reason, in the same words.
template <class Vulkan, class Cuda>
void check_same_error(const Vulkan& vulkan, const Cuda& cuda) {
    const std::string want = error_of(vulkan);
    CHECK(want != "no error");
    CHECK(error_of(cuda) == want);
}

}  // namespace weft_test
