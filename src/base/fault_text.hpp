// SPDX-License-Identifier: Apache-2.0
// What a driver says about why it gave a device up (VK_EXT_device_fault), as text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft::core {

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

}  // namespace weft::core
