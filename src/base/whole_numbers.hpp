// SPDX-License-Identifier: Apache-2.0
// Division and rounding of counts that may be near the end of 64 bits.
#pragma once

#include <cstdint>

namespace weft::core {

/// How many parts of size `b` hold all of `a`. A sum before the division could exceed 64 bits.
constexpr std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) noexcept {
    return a / b + (a % b != 0 ? 1 : 0);
}

/// The least multiple of `b` that is not below `a`.
constexpr std::uint64_t round_up(std::uint64_t a, std::uint64_t b) noexcept {
    return divide_up(a, b) * b;
}

/// A value that fits the 32 bits of a shader's parameter.
constexpr std::uint32_t word(std::uint64_t value) noexcept {
    return static_cast<std::uint32_t>(value);
}

}  // namespace weft::core

namespace weft::kernels {
using core::divide_up;
using core::round_up;
using core::word;
}  // namespace weft::kernels
