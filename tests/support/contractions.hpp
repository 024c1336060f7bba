// SPDX-License-Identifier: Apache-2.0
// Counts the floating-point operations of a module that drivers may and may not contract.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>

namespace weft_test {

struct ContractionCount {
    std::size_t forbidden = 0;  // additions, subtractions and products with NoContraction
    std::size_t free = 0;       // those without it
    std::size_t fused = 0;      // Fma of GLSL.std.450
};

/// `words` must be a valid module of one compute shader whose only set of extended instructions is
/// GLSL.std.450.
inline ContractionCount count_contractions(std::span<const std::uint32_t> words) {
    constexpr std::uint32_t kExtInst = 12, kDecorate = 71, kNoContraction = 42, kFma = 50;
    constexpr std::uint32_t kFAdd = 129, kFSub = 131, kFMul = 133;
    ContractionCount count;
    std::set<std::uint32_t> exact;  // decorations come before the instructions that they decorate
    for (std::size_t at = 5; at < words.size() && words[at] >> 16 != 0; at += words[at] >> 16) {
        const std::uint32_t op = words[at] & 0xffff;
        if (op == kDecorate && words[at + 2] == kNoContraction) exact.insert(words[at + 1]);
        if (op == kExtInst && words[at + 4] == kFma) ++count.fused;
        if (op == kFAdd || op == kFSub || op == kFMul)
            ++(exact.contains(words[at + 2]) ? count.forbidden : count.free);
    }
    return count;
}

}  // namespace weft_test
