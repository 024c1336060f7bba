// SPDX-License-Identifier: Apache-2.0
#include "glsl/digest.hpp"

namespace weft::glsl {

Hasher& Hasher::bytes(std::span<const std::byte> bytes) {
    constexpr Wide kPrime = (Wide{1} << 88) | 0x13b;
    Wide state = state_;
    for (const std::byte byte : bytes) state = (state ^ std::to_integer<std::uint8_t>(byte)) * kPrime;
    state_ = state;
    return *this;
}

Hasher& Hasher::text(std::string_view text) {
    return number(text.size()).bytes(std::as_bytes(std::span(text)));
}

Hasher& Hasher::number(std::uint64_t value) {
    std::array<std::byte, 8> little{};
    for (std::size_t i = 0; i < little.size(); ++i)
        little[i] = static_cast<std::byte>((value >> (8 * i)) & 0xff);
    return bytes(little);
}

Digest Hasher::digest() const {
    Digest digest{};
    for (std::size_t i = 0; i < digest.size(); ++i)
        digest[i] = static_cast<std::uint8_t>(state_ >> (8 * (15 - i)));
    return digest;
}

Digest digest_of(std::string_view text) {
    return Hasher{}.bytes(std::as_bytes(std::span(text))).digest();
}

}  // namespace weft::glsl
