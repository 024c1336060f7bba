// SPDX-License-Identifier: Apache-2.0
// Parts of JSON (RFC 8259) and CSV text, independent of the locale, and the JSON of stored settings, which is
// one object of whole numbers and of strings without escapes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace weft::core {

/// A JSON string with its quotes. Each byte that is not UTF-8 becomes U+FFFD.
std::string json_string(std::string_view text);
/// The shortest text that reads back as the same number; null for numbers that JSON cannot express.
std::string json_number(double value);
/// Nanoseconds as microseconds, the unit of the trace event format, without rounding.
std::string json_microseconds(std::int64_t ns);

/// A field of a CSV line, quoted where RFC 4180 requires it. Bytes that are not UTF-8, and control characters
/// other than tabs and line ends, become U+FFFD.
std::string csv_field(std::string_view text);

/// For a line of a table: valid UTF-8 without control characters, cut between characters to `most_bytes`.
std::string printable(std::string_view text, std::size_t most_bytes);

/// Members by name. A string keeps its opening quote, so that it is never taken for a number.
using FlatMembers = std::map<std::string, std::string>;

/// Nothing if the text is not such an object or has a name twice.
std::optional<FlatMembers> read_flat_json(std::string_view text);

/// Removes a member and returns its text; empty: there was none.
std::string taken(FlatMembers& members, const std::string& name);

}  // namespace weft::core
