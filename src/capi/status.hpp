// SPDX-License-Identifier: Apache-2.0
// Every call of the C API runs inside guarded(): exceptions become a status and a text of this thread.
#pragma once

#include <string>
#include <utility>

#include <weft/weft.h>
#include <weft/error.hpp>

namespace weft::capi {

/// Thrown where a callback of the caller returned other than 0.
struct Stopped {};
/// Thrown where a wait ended before the work.
struct TimeUp {};

/// Keeps text, code and failures of the exception that is being handled, and returns its status. The text
/// begins with `function`.
weft_status keep_error(const char* function) noexcept;

/// Throws an Error with Errc::invalid_argument.
[[noreturn]] void refuse(const std::string& text);

template <class Body>
weft_status guarded(const char* function, Body&& body) noexcept {
    try {
        body();
        return WEFT_OK;
    } catch (...) {
        return keep_error(function);
    }
}

/// The object that a pointer of the caller leads to. Errors: invalid_argument - NULL, by the name of the
/// argument.
template <class T>
T& given(const char* function, const char* name, T* pointer) {
    if (pointer == nullptr) refuse(std::string(function) + ": " + name + " is NULL");
    return *pointer;
}

}  // namespace weft::capi
