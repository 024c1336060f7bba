// SPDX-License-Identifier: Apache-2.0
// Pieces of JSON text (RFC 8259), independent of the locale.
#pragma once

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

/// A field of a CSV line, quoted as RFC 4180 has it where it must be.
std::string csv_field(std::string_view text);

}  // namespace weft::core
