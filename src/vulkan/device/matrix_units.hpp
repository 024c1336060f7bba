// SPDX-License-Identifier: Apache-2.0
// Matrix units through VK_KHR_cooperative_matrix and its predecessor of NVIDIA. The KHR structures are
// declared here because the headers that weft builds with may be older than they are.
#pragma once

#include <vector>

#include "plan/device/device_snapshot.hpp"
#include "vulkan/device/loader.hpp"
#include "vulkan/device/vulkan.hpp"

namespace weft::core {

inline constexpr const char* kKhrCooperativeMatrix = "VK_KHR_cooperative_matrix";
inline constexpr auto kKhrMatrixFeaturesType = static_cast<VkStructureType>(1000506000);

/// VkPhysicalDeviceCooperativeMatrixFeaturesKHR
struct KhrMatrixFeatures {
    VkStructureType sType = kKhrMatrixFeaturesType;
    void* pNext = nullptr;
    VkBool32 cooperativeMatrix = VK_FALSE;
    VkBool32 cooperativeMatrixRobustBufferAccess = VK_FALSE;
};

/// Features and shapes of those of the two extensions that the device shows. The KHR one counts as absent
/// under the validation layer: layers from before it report every use of it as an error.
void read_matrix_units(const Instance& instance, VkPhysicalDevice device, bool has_khr, bool has_nv,
                       DeviceSnapshot& s);

}  // namespace weft::core
