// SPDX-License-Identifier: Apache-2.0
// The refusal of an argument, in the form that all texts of errors have.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <weft/error.hpp>

namespace weft::core {

/// Throws invalid_argument - "<function>: <what>".
[[noreturn]] inline void refuse(std::string_view function, const std::string& what) {
    throw Error(Errc::invalid_argument, std::string(function) + ": " + what);
}

/// " (got X, need Y)".
inline std::string got_need(const std::string& got, const std::string& need) {
    return " (got " + got + ", need " + need + ")";
}
inline std::string got_need(std::uint64_t got, const std::string& need) {
    return got_need(std::to_string(got), need);
}

}  // namespace weft::core
