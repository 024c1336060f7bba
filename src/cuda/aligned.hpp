// SPDX-License-Identifier: Apache-2.0
// Whether memory suits accesses of 16 bytes.
#pragma once

#include <cstdint>
#include <string>

#include <weft/error.hpp>

namespace weft::cuda {

/// Errors: invalid_argument - `data` is no multiple of `need` bytes.
inline void check_aligned(const std::string& function, const void* data, const char* name,
                          std::uintptr_t need = 16) {
    const std::uintptr_t rest = reinterpret_cast<std::uintptr_t>(data) % need;
    if (rest == 0) return;
    throw Error(Errc::invalid_argument, function + ": " + name + " is not aligned (got an address " +
                                            std::to_string(rest) + " bytes behind a multiple of " +
                                            std::to_string(need) + ", need a multiple)");
}

}  // namespace weft::cuda
