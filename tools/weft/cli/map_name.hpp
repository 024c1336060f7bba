// SPDX-License-Identifier: Apache-2.0
// Names of feature maps that commands accept: those of the library, and "angle" as another name of ry.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>

#include <weft/ops/kernel_circuit.hpp>

namespace weft::tool {

/// Accepts any case. Errors: invalid_argument - no such map.
inline FeatureMap map_named(const std::string& name) {
    constexpr std::string_view kAngle = "angle";
    const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
    const bool angle = std::equal(name.begin(), name.end(), kAngle.begin(), kAngle.end(), same);
    return angle ? FeatureMap::ry : feature_map(name);
}

}  // namespace weft::tool
