// SPDX-License-Identifier: Apache-2.0
// Ranges of the settings that a user may choose, on any device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/refusal.hpp"

namespace weft::core {

inline constexpr std::uint32_t kMostRingSlots = 16, kMostCopyThreads = 256;
/// Shaders count elements in 32 bits.
inline constexpr std::uint64_t kMostChunkElements = 0xffffffffu;

/// Errors: invalid_argument - "<function>: <name> is out of range".
inline void check_setting(const char* function, const char* name, std::uint64_t got, std::uint64_t least,
                          std::uint64_t most) {
    if (got >= least && got <= most) return;
    refuse(function, std::string(name) + " is out of range" +
                         got_need(got, std::to_string(std::max<std::uint64_t>(1, least)) + " to " +
                                           std::to_string(most)));
}

}  // namespace weft::core
