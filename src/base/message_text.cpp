// SPDX-License-Identifier: Apache-2.0
#include "base/message_text.hpp"

#include <cstdio>

namespace weft::core {

LogLevel message_level(MessageSeverity severity, bool about_usage) {
    if (!about_usage) return LogLevel::debug;
    switch (severity) {
        case MessageSeverity::error:
            return LogLevel::error;
        case MessageSeverity::warning:
            return LogLevel::warning;
        case MessageSeverity::info:
            return LogLevel::info;
        case MessageSeverity::verbose:
            break;
    }
    return LogLevel::debug;
}

std::string message_text(std::string_view text, std::span<const MessageObject> objects) {
    std::string names;
    for (const MessageObject& object : objects) {
        // Most layers name the objects themselves.
        if (object.name.empty() || text.find(object.name) != std::string_view::npos) continue;
        char handle[24];
        std::snprintf(handle, sizeof handle, "0x%llx", static_cast<unsigned long long>(object.handle));
        names +=
            (names.empty() ? " [" : ", ") + std::string(handle) + " is \"" + std::string(object.name) + "\"";
    }
    std::string result = std::string(text) + names + (names.empty() ? "" : "]");
    if (result.size() > kMostMessageBytes) {
        result.resize(kMostMessageBytes - 3);
        result += "...";
    }
    return result;
}

}  // namespace weft::core
