// SPDX-License-Identifier: Apache-2.0
// Digests of content. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace weft::glsl {

using Digest = std::array<std::uint8_t, 16>;

/// FNV-1a with 128 bits, wide enough that two sources never collide by accident. It does not resist
/// attackers, who would need access to the user's sources or cache.
class Hasher {
  public:
    Hasher& bytes(std::span<const std::byte> bytes);
    /// Lengths are hashed too, so that neighbouring texts cannot trade characters.
    Hasher& text(std::string_view text);
    Hasher& number(std::uint64_t value);
    Digest digest() const;

  private:
    __extension__ using Wide = unsigned __int128;
    Wide state_ = (Wide{0x6c62272e07bb0142} << 64) | 0x62b821756295c58d;
};

Digest digest_of(std::string_view text);

}  // namespace weft::glsl
