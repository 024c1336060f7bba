// SPDX-License-Identifier: Apache-2.0
// Which CUDA device is a Vulkan device, and which ones a setting names. src/cuda/device.cpp implements it.
#pragma once

#include <string>
#include <vector>

#include <weft/cuda/device.hpp>

namespace weft::cuda {

/// The device with that UUID. Errors: no_device - the text names the devices that are there and the one
/// needed.
const DeviceInfo& match_device(const std::vector<DeviceInfo>& devices, const std::string& name,
                               const std::string& uuid);

/// Every device that a setting names, in its order; the devices are in the order of their ordinals. Empty:
/// the first. Errors: as find_device; the text begins with `function`.
std::vector<DeviceInfo> named_devices(const char* function, const std::vector<DeviceInfo>& devices,
                                      const std::string& setting);

}  // namespace weft::cuda
