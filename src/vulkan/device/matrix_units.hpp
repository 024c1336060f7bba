// SPDX-License-Identifier: Apache-2.0
// Matrix units through VK_KHR_cooperative_matrix and NVIDIA's extension before it. The KHR structures are
// declared here because weft may be built with headers that are older than they are.
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

/// Reads features and shapes of the two extensions, as far as the device has them. The KHR extension counts
/// as absent under the validation layer, because older layers report every use of it as an error.
void read_matrix_units(const Instance& instance, VkPhysicalDevice device, bool has_khr, bool has_nv,
                       DeviceSnapshot& s);

}  // namespace weft::core
