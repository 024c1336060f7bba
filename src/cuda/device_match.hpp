// SPDX-License-Identifier: Apache-2.0
// Which CUDA device is a Vulkan device, and which one a setting names. src/cuda/device.cpp implements it.
#pragma once

#include <string>
#include <vector>

#include <weft/cuda/device.hpp>

namespace weft::cuda {

/// The device with that UUID. Errors: no_device - the text names the devices that are there and the one
/// needed.
const DeviceInfo& match_device(const std::vector<DeviceInfo>& devices, const std::string& name,
                               const std::string& uuid);

/// As find_device among these devices, which are in the order of their ordinals.
const DeviceInfo& named_device(const std::vector<DeviceInfo>& devices, const std::string& setting);

}  // namespace weft::cuda
