// SPDX-License-Identifier: Apache-2.0
#include "base/json_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

namespace weft::core {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

unsigned byte_at(std::string_view text, std::size_t i) {
    return static_cast<unsigned char>(text[i]);
}

/// Bytes of the well-formed UTF-8 sequence at `i`; 0: there is none. Table 3-7 of the Unicode standard: no
/// overlong forms, no surrogates, nothing beyond U+10FFFF.
std::size_t sequence_length(std::string_view text, std::size_t i) {
    const unsigned lead = byte_at(text, i);
    if (lead < 0x80) return 1;
    const std::size_t length = lead >= 0xc2 && lead <= 0xdf   ? 2
                               : lead >= 0xe0 && lead <= 0xef ? 3
                               : lead >= 0xf0 && lead <= 0xf4 ? 4
                                                              : 0;
    if (length == 0 || i + length > text.size()) return 0;
    const unsigned least = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const unsigned most = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (byte_at(text, i + 1) < least || byte_at(text, i + 1) > most) return 0;
    for (std::size_t k = 2; k < length; ++k)
        if (byte_at(text, i + k) < 0x80 || byte_at(text, i + k) > 0xbf) return 0;
    return length;
}

/// Empty: no UTF-8.
std::string_view character_at(std::string_view text, std::size_t i) {
    return text.substr(i, sequence_length(text, i));
}

bool is_control(std::string_view character) {
    return character.size() == 1 && (byte_at(character, 0) < 0x20 || byte_at(character, 0) == 0x7f);
}

void append_escaped(std::string& out, char c) {
    constexpr char kDigits[] = "0123456789abcdef";
    switch (c) {
        case '"':
            out += "\\\"";
            return;
        case '\\':
            out += "\\\\";
            return;
        case '\n':
            out += "\\n";
            return;
        case '\r':
            out += "\\r";
            return;
        case '\t':
            out += "\\t";
            return;
        default:
            break;
    }
    const auto value = static_cast<unsigned char>(c);
    if (value < 0x20 || value == 0x7f) {
        out += "\\u00";
        out += kDigits[value >> 4];
        out += kDigits[value & 15];
    } else {
        out += c;
    }
}

}  // namespace

std::string json_string(std::string_view text) {
    std::string out = "\"";
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t length = sequence_length(text, i);
        if (length == 0)
            out += kReplacement;
        else if (length == 1)
            append_escaped(out, text[i]);
        else
            out += text.substr(i, length);
        i += length == 0 ? 1 : length;
    }
    return out + '"';
}

std::string json_number(double value) {
    if (!std::isfinite(value)) return "null";
    std::array<char, 32> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    return {digits.data(), end};
}

std::string json_microseconds(std::int64_t ns) {
    const bool negative = ns < 0;
    const std::uint64_t size = negative ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
    const std::string rest = std::to_string(size % 1000);
    return (negative ? "-" : "") + std::to_string(size / 1000) + "." + std::string(3 - rest.size(), '0') +
           rest;
}

std::string csv_field(std::string_view text) {
    const bool quoted = text.find_first_of(",\"\r\n") != std::string_view::npos;
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        const std::string_view c = character_at(text, i);
        if (c == "\"") out += '"';
        const bool kept = !is_control(c) || c == "\n" || c == "\r" || c == "\t";
        out += c.empty() || !kept ? kReplacement : c;
        i += std::max<std::size_t>(c.size(), 1);
    }
    return quoted ? '"' + out + '"' : out;
}

std::string printable(std::string_view text, std::size_t most_bytes) {
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        const std::string_view c = character_at(text, i);
        const std::string_view shown = c.empty() ? kReplacement : is_control(c) ? std::string_view("?") : c;
        if (out.size() + shown.size() > most_bytes) break;
        out += shown;
        i += std::max<std::size_t>(c.size(), 1);
    }
    return out;
}

}  // namespace weft::core
