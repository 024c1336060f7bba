// SPDX-License-Identifier: Apache-2.0
// Cooperative matrices in SPIR-V. The SPIRV-Tools and SPIRV-Cross that weft builds with may be older than the
// KHR extension, and SPIRV-Cross knows neither; what they are asked (is the rest valid, what is bound) does
// not depend on matrices.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace weft::core {

inline constexpr std::uint32_t kCapabilityCooperativeMatrixKhr = 6022;

/// The module with every cooperative matrix replaced by an array of its components, loads and products of
/// matrices by undefined values, stores left out; pointers are computed as before. A module without them
/// comes back as it is. `words`: a header and instructions whose lengths add up; what is not valid stays so.
std::vector<std::uint32_t> without_matrices(std::span<const std::uint32_t> words);

}  // namespace weft::core
