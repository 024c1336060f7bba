// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"

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

/// Bytes of the well-formed UTF-8 sequence at `i`; 0: there is none. Follows table 3-7 of the Unicode
/// standard: no overlong sequences, no surrogates, nothing beyond U+10FFFF.
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

bool is_control(std::string_view character) {
    return character.size() == 1 && (byte_at(character, 0) < 0x20 || byte_at(character, 0) == 0x7f);
}

void append_escaped(std::string& out, char c) {
    constexpr char kDigits[] = "0123456789abcdef";
    constexpr std::string_view kNamed = "\"\\\n\r\t", kNames = "\"\\nrt";
    const auto value = static_cast<unsigned char>(c);
    if (const std::size_t at = kNamed.find(c); at != std::string_view::npos) {
        out += '\\';
        out += kNames[at];
    } else if (value < 0x20 || value == 0x7f) {
        out += "\\u00";
        out += kDigits[value >> 4];
        out += kDigits[value & 15];
    } else {
        out += c;
    }
}

/// Calls visit(character) for each character, with an empty one for a byte that is not UTF-8. `visit` returns
/// whether to go on.
template <class Visit>
void for_each_character(std::string_view text, const Visit& visit) {
    for (std::size_t i = 0; i < text.size();) {
        const std::string_view c = text.substr(i, sequence_length(text, i));
        if (!visit(c)) return;
        i += std::max<std::size_t>(c.size(), 1);
    }
}

class FlatReader {
  public:
    explicit FlatReader(std::string_view text) : text_(text) {}

    std::optional<FlatMembers> read() {
        FlatMembers members;
        if (!take('{')) return std::nullopt;
        do {
            const std::string name = string(), value = take(':') ? (peek() == '"' ? string() : digits()) : "";
            if (name.empty() || value.empty() || !members.emplace(name.substr(1), value).second)
                return std::nullopt;
        } while (take(','));
        if (!take('}')) return std::nullopt;
        skip();
        return text_.empty() ? std::optional(members) : std::nullopt;
    }

  private:
    void skip() {
        while (!text_.empty() && std::string_view(" \t\r\n").find(text_.front()) != std::string_view::npos)
            text_.remove_prefix(1);
    }
    char peek() {
        skip();
        return text_.empty() ? '\0' : text_.front();
    }
    bool take(char c) {
        if (peek() != c) return false;
        text_.remove_prefix(1);
        return true;
    }
    std::string string() {
        if (!take('"')) return {};
        const std::size_t end = text_.find_first_of("\"\\\n");
        if (end == std::string_view::npos || text_[end] != '"') return {};
        const std::string value = '"' + std::string(text_.substr(0, end));
        text_.remove_prefix(end + 1);
        return value;
    }
    std::string digits() {
        const std::size_t end = std::min(text_.find_first_not_of("0123456789"), text_.size());
        const std::string value(text_.substr(0, end));
        text_.remove_prefix(end);
        return value;
    }

    std::string_view text_;
};

}  // namespace

std::string json_string(std::string_view text) {
    std::string out = "\"";
    for_each_character(text, [&](std::string_view c) {
        if (c.size() == 1)
            append_escaped(out, c.front());
        else
            out += c.empty() ? kReplacement : c;
        return true;
    });
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
    for_each_character(text, [&](std::string_view c) {
        if (c == "\"") out += '"';
        const bool kept = !is_control(c) || c == "\n" || c == "\r" || c == "\t";
        out += c.empty() || !kept ? kReplacement : c;
        return true;
    });
    return quoted ? '"' + out + '"' : out;
}

std::string printable(std::string_view text, std::size_t most_bytes) {
    std::string out;
    for_each_character(text, [&](std::string_view c) {
        const std::string_view shown = c.empty() ? kReplacement : is_control(c) ? std::string_view("?") : c;
        if (out.size() + shown.size() > most_bytes) return false;
        out += shown;
        return true;
    });
    return out;
}

std::optional<FlatMembers> read_flat_json(std::string_view text) {
    return FlatReader(text).read();
}

std::string taken(FlatMembers& members, const std::string& name) {
    const auto it = members.find(name);
    if (it == members.end()) return {};
    std::string value = it->second;
    members.erase(it);
    return value;
}

}  // namespace weft::core
