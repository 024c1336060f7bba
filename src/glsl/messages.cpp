// SPDX-License-Identifier: Apache-2.0
#include "glsl/messages.hpp"

#include <algorithm>
#include <utility>

namespace weft::glsl {

namespace {

// A broken shader can make the compiler print thousands of lines, which are too many for an exception.
constexpr std::size_t kMaxMessages = 50;
constexpr std::size_t kMaxMessageChars = 2000;

/// Splits a line at ": error: " or ": warning: ", whichever comes first.
bool split_line(std::string_view line, Message& message) {
    constexpr std::string_view kError = ": error: ", kWarning = ": warning: ";
    const std::size_t error = line.find(kError), warning = line.find(kWarning);
    if (error == std::string_view::npos && warning == std::string_view::npos) return false;
    message.error = error < warning;
    const std::size_t at = std::min(error, warning);
    message.place = line.substr(0, at);
    message.text = line.substr(at + (message.error ? kError : kWarning).size());
    return true;
}

std::string shortened(const std::string& text) {
    return text.size() <= kMaxMessageChars ? text : text.substr(0, kMaxMessageChars) + " ...";
}

std::string line_of(const Message& message) {
    std::string line = message.place.empty() ? "" : message.place + ": ";
    if (!message.error) line += "warning: ";
    return line + shortened(message.text);
}

std::string joined(const std::vector<Message>& messages, bool errors) {
    std::string text;
    std::size_t count = 0;
    for (const Message& message : messages) {
        if (message.error != errors) continue;
        if (++count > kMaxMessages) continue;
        if (!text.empty()) text += '\n';
        text += line_of(message);
    }
    if (count > kMaxMessages) text += "\n" + std::to_string(count - kMaxMessages) + " more";
    return text;
}

}  // namespace

std::vector<Message> parse_messages(std::string_view output) {
    std::vector<Message> messages;
    while (!output.empty()) {
        const std::size_t end = std::min(output.find('\n'), output.size());
        std::string_view line = output.substr(0, end);
        output.remove_prefix(std::min(end + 1, output.size()));
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.empty()) continue;
        Message message;
        if (split_line(line, message)) {
            messages.push_back(std::move(message));
        } else if (messages.empty()) {
            messages.push_back({{}, true, std::string(line)});
        } else {
            messages.back().text += "\n" + std::string(line);
        }
    }
    return messages;
}

std::string error_text(const std::vector<Message>& messages, std::string_view name) {
    std::string text = "compile_glsl: ";
    const std::string errors = joined(messages, true), warnings = joined(messages, false);
    const auto first =
        std::find_if(messages.begin(), messages.end(), [](const Message& m) { return m.error; });
    if (errors.empty() || first->place.empty()) text += std::string(name) + ": ";
    text += errors.empty() ? "the compiler failed without a reason" : errors;
    return warnings.empty() ? text : text + "\n" + warnings;
}

std::string warning_text(const std::vector<Message>& messages) {
    return joined(messages, false);
}

}  // namespace weft::glsl
