// SPDX-License-Identifier: Apache-2.0
// Which CUDA device a Vulkan device is, and which one a setting names.
#pragma once

#include <string>
#include <vector>

#include <weft/cuda/device.hpp>

namespace weft::cuda {

/// The device with that UUID. Errors: no_device - the text names what is there and what was needed.
const DeviceInfo& match_device(const std::vector<DeviceInfo>& devices, const std::string& name,
                               const std::string& uuid);

/// As find_device, of these devices, which are in the order of their ordinals.
const DeviceInfo& named_device(const std::vector<DeviceInfo>& devices, const std::string& setting);

}  // namespace weft::cuda
