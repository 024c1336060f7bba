// SPDX-License-Identifier: Apache-2.0
// What a compiler said, taken apart and put into weft's form. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft::glsl {

/// One message; further lines of it are in `text`.
struct Message {
    std::string place;  ///< "file:line" or "file"; empty where the compiler named none
    bool error = true;
    std::string text;
    bool operator==(const Message&) const = default;
};

/// Lines `file:line: error: text`, `file: warning: text`. A line of another form belongs to the message
/// before it.
std::vector<Message> parse_messages(std::string_view output);

/// Text of an Error: the first error in the first line, then the other errors, then warnings. Where there is
/// none, `name` and that the compiler gave no reason.
std::string error_text(const std::vector<Message>& messages, std::string_view name);

/// Warnings, one a line, without a line feed after the last.
std::string warning_text(const std::vector<Message>& messages);

}  // namespace weft::glsl
