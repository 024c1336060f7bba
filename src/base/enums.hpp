// SPDX-License-Identifier: Apache-2.0
// Enums that count from 0 without a gap: the check of one from outside, which may hold any number, and names.
#pragma once

#include <cstddef>
#include <string>

#include <weft/error.hpp>

namespace weft::core {

/// Errors: invalid_argument - "<function>: no such <what>".
template <class Enum>
void check_enum(const char* function, const char* what, Enum value, Enum last) {
    const int got = static_cast<int>(value), most = static_cast<int>(last);
    if (got < 0 || got > most)
        throw Error(Errc::invalid_argument, std::string(function) + ": no such " + what + " (got " +
                                                std::to_string(got) + ", need 0 to " + std::to_string(most) +
                                                ")");
}

/// The name of `value`, of one name for each value of the enum in their order; "unknown" for other numbers.
template <auto kLast, std::size_t kCount>
constexpr const char* enum_name(decltype(kLast) value, const char* const (&names)[kCount]) noexcept {
    static_assert(kCount == static_cast<std::size_t>(kLast) + 1, "one name for each value");
    const auto index = static_cast<std::size_t>(value);
    return index < kCount ? names[index] : "unknown";
}

}  // namespace weft::core
