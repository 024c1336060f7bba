// SPDX-License-Identifier: Apache-2.0
// What a physical device reports, as the plain data that plans are made from.
#pragma once

#include <string>
#include <vector>

#include "plan/device/device_snapshot.hpp"
#include "vulkan/device/loader.hpp"
#include "vulkan/device/vulkan.hpp"

namespace weft::core {

DeviceSnapshot read_snapshot(const Instance& instance, VkPhysicalDevice device);
/// Notes every feature that is on in `features` and in the structures chained to it.
void add_features(const VkPhysicalDeviceFeatures2& features, DeviceSnapshot& s);
/// Names of the extensions that a device may be made with: its own, or with `layer` that layer's.
std::vector<std::string> device_extensions(const InstanceTable& vk, VkPhysicalDevice device,
                                           const char* layer);

}  // namespace weft::core
