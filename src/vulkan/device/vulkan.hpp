// SPDX-License-Identifier: Apache-2.0
// The only include of volk, and what a VkResult means to a user.
#pragma once

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <volk.h>

#include <string>

#include <weft/error.hpp>

namespace weft::core {

/// Throws weft::Error for a failed driver call named `what`; `detail` follows in its text.
[[noreturn]] void throw_result(VkResult result, const char* what, const std::string& detail = {});

inline void check(VkResult result, const char* what) {
    if (result < 0) throw_result(result, what);
}

}  // namespace weft::core
