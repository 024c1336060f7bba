// SPDX-License-Identifier: Apache-2.0
// Which devices of an API a device setting (Config::device) names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft::core {

/// What the setting is compared with.
struct DeviceName {
    std::string name;
    std::string uuid;  ///< 32 lower-case hexadecimal digits
    bool cpu = false;
};

/// Ascending indices of the devices that `wanted` names; all devices if it is empty. An index has precedence
/// over a UUID, and a UUID over a part of a name. Dashes of a UUID and upper or lower case do not matter.
std::vector<std::uint32_t> match_devices(const std::vector<DeviceName>& devices, const std::string& wanted);

}  // namespace weft::core
