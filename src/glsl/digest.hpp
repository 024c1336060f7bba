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
    Hasher& bytes(std::span<const std::byte> bytes) {
        constexpr Wide kPrime = (Wide{1} << 88) | 0x13b;
        Wide state = state_;  // bytes may alias the member, which would keep it in memory
        for (const std::byte byte : bytes) state = (state ^ std::to_integer<std::uint8_t>(byte)) * kPrime;
        state_ = state;
        return *this;
    }
    /// Lengths are hashed too, so that neighbouring texts cannot trade characters.
    Hasher& text(std::string_view text) { return number(text.size()).bytes(std::as_bytes(std::span(text))); }
    Hasher& number(std::uint64_t value) {
        std::array<std::byte, 8> little{};
        for (std::size_t i = 0; i < little.size(); ++i)
            little[i] = static_cast<std::byte>((value >> (8 * i)) & 0xff);
        return bytes(little);
    }
    Digest digest() const {
        Digest digest{};
        for (std::size_t i = 0; i < digest.size(); ++i)
            digest[i] = static_cast<std::uint8_t>(state_ >> (8 * (15 - i)));
        return digest;
    }

  private:
    __extension__ using Wide = unsigned __int128;
    Wide state_ = (Wide{0x6c62272e07bb0142} << 64) | 0x62b821756295c58d;
};

inline Digest digest_of(std::string_view text) {
    return Hasher{}.bytes(std::as_bytes(std::span(text))).digest();
}

}  // namespace weft::glsl
