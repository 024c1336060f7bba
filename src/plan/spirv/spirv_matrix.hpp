// SPDX-License-Identifier: Apache-2.0
// Cooperative matrices in SPIR-V. The SPIRV-Tools that weft builds with may be older than the KHR extension,
// and SPIRV-Cross knows neither extension. Both are only asked whether the rest is valid and what is bound,
// which does not depend on matrices.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace weft::core {

inline constexpr std::uint32_t kCapabilityCooperativeMatrixKhr = 6022;

/// The module with every cooperative matrix replaced by an array of its components, and loads and products of
/// matrices by undefined values. Stores of matrices are left out; pointers are computed as before. A module
/// without matrices is returned unchanged, and an invalid one stays invalid. `words`: a header and
/// instructions whose lengths add up.
std::vector<std::uint32_t> without_matrices(std::span<const std::uint32_t> words);

}  // namespace weft::core
