// SPDX-License-Identifier: Apache-2.0
// What becomes of a message of the validation layer, a driver or the loader: its level and its text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <weft/config.hpp>

namespace weft::core {

enum class MessageSeverity { verbose, info, warning, error };

/// A Vulkan object that a message is about; `name` is empty where nobody named it.
struct MessageObject {
    std::uint64_t handle = 0;
    std::string_view name;
};

/// Level of a message. `about_usage` is false for general ones: these come from the loader about other
/// people's layers and drivers and are no fault of a program.
LogLevel message_level(MessageSeverity severity, bool about_usage);

/// `text` with the names that it leaves out appended; at most kMostMessageBytes.
std::string message_text(std::string_view text, std::span<const MessageObject> objects);

inline constexpr std::size_t kMostMessageBytes = 16384;

}  // namespace weft::core
