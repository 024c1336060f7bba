// SPDX-License-Identifier: Apache-2.0
// Sizes of the staging buffers of a Stream and of the blocks of the memory pool, for plans that bound memory.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace weft::kernels {

inline constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

/// The size of a staging buffer of a Stream for a transfer of that many bytes, which goes in parts of 32 MiB.
constexpr std::uint64_t staging_bytes(std::uint64_t bytes) {
    const std::uint64_t part = std::min(bytes, 32 * kMiB);
    return part <= kMiB ? std::max<std::uint64_t>(4096, std::bit_ceil(part))
                        : (part + kMiB - 1) / kMiB * kMiB;
}

/// Adds what is free in blocks: the last shared block of each kind of memory is a 64th of
/// Config::memory_limit and may be nearly empty.
constexpr std::uint64_t with_blocks(std::uint64_t bytes) {
    return bytes + bytes / 8 + (std::uint64_t{64} << 10);
}

}  // namespace weft::kernels
