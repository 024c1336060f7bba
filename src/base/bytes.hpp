// SPDX-License-Identifier: Apache-2.0
// Bytes as text, and numbers as bytes for files that every machine reads alike: little-endian.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::core {

/// Two lower-case hexadecimal digits a byte.
inline std::string hex(std::span<const std::uint8_t> bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (const std::uint8_t byte : bytes) {
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
    }
    return text;
}

class ByteWriter {
  public:
    void raw(std::span<const std::byte> bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }
    void raw(std::span<const std::uint8_t> bytes) { raw(std::as_bytes(bytes)); }
    void number(std::uint64_t value, std::size_t bytes) {
        for (std::size_t i = 0; i < bytes; ++i)
            out_.push_back(static_cast<std::byte>((value >> (8 * i)) & 0xff));
    }
    /// Its length in four bytes, then the text.
    void text(std::string_view text) {
        number(text.size(), 4);
        raw(std::as_bytes(std::span(text)));
    }
    std::vector<std::byte> take() { return std::move(out_); }

  private:
    std::vector<std::byte> out_;
};

/// Takes values off the front. Once something is missing every further value is 0 or empty and ok() is false.
class ByteReader {
  public:
    explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

    std::span<const std::byte> raw(std::size_t bytes) {
        if (bytes > rest_.size()) {
            ok_ = false;
            rest_ = {};
            return {};
        }
        const auto taken = rest_.first(bytes);
        rest_ = rest_.subspan(bytes);
        return taken;
    }
    std::uint64_t number(std::size_t bytes) {
        std::uint64_t value = 0;
        std::size_t shift = 0;
        for (const std::byte byte : raw(bytes)) {
            value |= std::to_integer<std::uint64_t>(byte) << shift;
            shift += 8;
        }
        return value;
    }
    std::uint32_t number32() { return static_cast<std::uint32_t>(number(4)); }
    std::string text() {
        const auto bytes = raw(number32());
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }
    std::array<std::uint8_t, 16> sixteen() {
        std::array<std::uint8_t, 16> value{};
        const auto bytes = raw(value.size());
        for (std::size_t i = 0; i < bytes.size(); ++i) value[i] = std::to_integer<std::uint8_t>(bytes[i]);
        return value;
    }
    std::span<const std::byte> rest() const { return rest_; }
    bool ok() const { return ok_; }

  private:
    std::span<const std::byte> rest_;
    bool ok_ = true;
};

}  // namespace weft::core
