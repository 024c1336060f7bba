// SPDX-License-Identifier: Apache-2.0
// Splits the output of a compiler into messages and writes them in weft's format. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft::glsl {

/// One message; `text` may have several lines.
struct Message {
    std::string place;  ///< "file:line" or "file"; empty if the compiler named none
    bool error = true;
    std::string text;
    bool operator==(const Message&) const = default;
};

/// Lines `file:line: error: text`, `file: warning: text`. A line of another form belongs to the message
/// before it.
std::vector<Message> parse_messages(std::string_view output);

/// The text of an Error: the first error in the first line, then the other errors, then warnings. Without an
/// error, `name` and a note that the compiler gave no reason.
std::string error_text(const std::vector<Message>& messages, std::string_view name);

/// Warnings, one a line, without a line feed after the last.
std::string warning_text(const std::vector<Message>& messages);

}  // namespace weft::glsl
