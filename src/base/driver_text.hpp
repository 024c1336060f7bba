// SPDX-License-Identifier: Apache-2.0
// What a driver, a layer or the loader reports, as text: messages, and why a device was lost.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// A Vulkan object that a message is about; `name` is empty if it has none.
struct MessageObject {
    std::uint64_t handle = 0;
    std::string_view name;
};

/// `text`, followed by the names of objects that it does not mention; at most kMostMessageBytes.
std::string message_text(std::string_view text, std::span<const MessageObject> objects);

inline constexpr std::size_t kMostMessageBytes = 16384;

}  // namespace weft::core
