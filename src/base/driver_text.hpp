// SPDX-License-Identifier: Apache-2.0
// Texts of what a driver, a layer or the loader reports: messages, and why a device was lost.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/config.hpp>

namespace weft::core {

/// What a driver says about a device that it lost (VK_EXT_device_fault).
struct DeviceFault {
    struct Address {
        std::uint32_t type = 0;  // VkDeviceFaultAddressTypeEXT
        std::uint64_t reported = 0;
        std::uint64_t precision = 1;  // power of two: the address lies in a range of so many bytes
    };
    struct Vendor {
        std::string description;
        std::uint64_t code = 0, data = 0;
    };
    std::string description;
    std::vector<Address> addresses;
    std::vector<Vendor> vendor;
};

/// One line for an Error, at most kMostFaultBytes long; empty when the driver said nothing. Control
/// characters of the driver's strings become blanks.
std::string fault_text(const DeviceFault& fault);

inline constexpr std::size_t kMostFaultBytes = 1024;

enum class MessageSeverity { verbose, info, warning, error };

/// A Vulkan object that a message is about; `name` is empty where it has none.
struct MessageObject {
    std::uint64_t handle = 0;
    std::string_view name;
};

/// Level of a message. `about_usage` is false for general messages: the loader sends them about layers and
/// drivers of others, and no program is at fault.
LogLevel message_level(MessageSeverity severity, bool about_usage);

/// `text` with the names that it leaves out appended; at most kMostMessageBytes.
std::string message_text(std::string_view text, std::span<const MessageObject> objects);

inline constexpr std::size_t kMostMessageBytes = 16384;

}  // namespace weft::core
