// SPDX-License-Identifier: Apache-2.0
// The length of soak tests, and the memory of the process.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string_view>

namespace weft_test {

/// Whether the long versions run: WEFT_SOAK=full.
inline bool full_soak() {
    const char* value = std::getenv("WEFT_SOAK");
    return value != nullptr && std::string_view(value) == "full";
}

inline std::size_t scaled(std::size_t quick, std::size_t full) {
    return full_soak() ? full : quick;
}

/// Resident memory of this process, bytes.
inline std::uint64_t resident_bytes() {
    std::ifstream in("/proc/self/statm");
    std::uint64_t pages = 0, resident = 0;
    in >> pages >> resident;
    return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace weft_test
