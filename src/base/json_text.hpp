// SPDX-License-Identifier: Apache-2.0
// Parts of JSON text (RFC 8259), independent of the locale.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weft::core {

/// A JSON string with its quotes. Bytes that are no UTF-8 become U+FFFD, one for each byte.
std::string json_string(std::string_view text);
/// The shortest text that reads back as the same number; null for what JSON cannot express.
std::string json_number(double value);
/// Nanoseconds as microseconds, which the trace event format counts in; nothing is rounded.
std::string json_microseconds(std::int64_t ns);

/// A field of a CSV line, quoted as RFC 4180 has it where it must be. Bytes that are no UTF-8 and control
/// characters but tabs and line ends become U+FFFD.
std::string csv_field(std::string_view text);

/// For a line of a table: no control characters, UTF-8 alone, and no more bytes than `most_bytes`; nothing is
/// cut inside a character.
std::string printable(std::string_view text, std::size_t most_bytes);

}  // namespace weft::core
