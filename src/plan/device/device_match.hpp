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

/// Ascending indices of the devices that one name matches; all devices if it is empty or "all". An index has
/// precedence over a UUID, and a UUID over a part of a name. Dashes of a UUID and upper or lower case do not
/// matter.
std::vector<std::uint32_t> match_devices(const std::vector<DeviceName>& devices, const std::string& wanted);

/// Whether a name is "all".
bool means_all(const std::string& name);

/// One name of a setting, and what match_devices finds for it, which may be nothing.
struct NamedDevices {
    std::string name;
    std::vector<std::uint32_t> indices;
};

/// What a whole setting names, in its order. It is one name if that matches a device or is empty, otherwise
/// names with commas between, without the blanks around them. A comma is a part of a name if a device has
/// such a name. `function` begins the text of the error. Errors: invalid_argument - an empty name in a list.
std::vector<NamedDevices> match_setting(const char* function, const std::vector<DeviceName>& devices,
                                        const std::string& setting);

}  // namespace weft::core
