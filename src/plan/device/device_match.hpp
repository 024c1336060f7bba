// SPDX-License-Identifier: Apache-2.0
// What a device setting (Config::device) names, of the devices of any API.
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

/// Ascending indices of the devices that `wanted` names; all of them for an empty one. An index comes before
/// a UUID, that before a part of a name; dashes of a UUID and cases do not count.
std::vector<std::uint32_t> match_devices(const std::vector<DeviceName>& devices, const std::string& wanted);

}  // namespace weft::core
