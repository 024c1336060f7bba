// SPDX-License-Identifier: Apache-2.0
// An enum from outside may hold any number; what switches over it must not have to ask.
#pragma once

#include <string>

#include <weft/error.hpp>

namespace weft::core {

/// For enums that count from 0 without a gap. Errors: invalid_argument - "<function>: no such <what>".
template <class Enum>
void check_enum(const char* function, const char* what, Enum value, Enum last) {
    const int got = static_cast<int>(value), most = static_cast<int>(last);
    if (got < 0 || got > most)
        throw Error(Errc::invalid_argument, std::string(function) + ": no such " + what + " (got " +
                                                std::to_string(got) + ", need 0 to " + std::to_string(most) +
                                                ")");
}

}  // namespace weft::core
