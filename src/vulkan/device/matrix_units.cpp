// SPDX-License-Identifier: Apache-2.0
#include "vulkan/device/matrix_units.hpp"

namespace weft::core {
namespace {

/// VkCooperativeMatrixPropertiesKHR
struct KhrMatrixProperties {
    VkStructureType sType = static_cast<VkStructureType>(1000506001);
    void* pNext = nullptr;
    std::uint32_t m = 0, n = 0, k = 0;
    std::int32_t a = 0, b = 0, c = 0, result = 0;  // VkComponentTypeKHR
    VkBool32 saturating = VK_FALSE;
    std::int32_t scope = 0;  // VkScopeKHR
};
using KhrMatrixQuery = VkResult(VKAPI_PTR*)(VkPhysicalDevice, std::uint32_t*, KhrMatrixProperties*);

// These numbers are the same in both extensions.
constexpr std::int32_t kFloat16 = 0, kFloat32 = 1, kSubgroup = 3;

void keep(DeviceSnapshot& s, bool khr, const MatrixShape& shape, std::int32_t a, std::int32_t b,
          std::int32_t c, std::int32_t result, std::int32_t scope) {
    if (a != kFloat16 || b != kFloat16 || c != kFloat32 || result != kFloat32 || scope != kSubgroup) return;
    (khr ? s.matrix_shapes_khr : s.matrix_shapes_nv).push_back(shape);
}

void read_khr(const Instance& instance, VkPhysicalDevice device, DeviceSnapshot& s) {
    KhrMatrixFeatures matrix;
    VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &matrix};
    instance.vk.vkGetPhysicalDeviceFeatures2(device, &features);
    const auto query = reinterpret_cast<KhrMatrixQuery>(instance.vk.vkGetInstanceProcAddr(
        instance.handle(), "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"));
    if (matrix.cooperativeMatrix == VK_FALSE || query == nullptr) return;
    std::uint32_t count = 0;
    check(query(device, &count, nullptr), "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR");
    std::vector<KhrMatrixProperties> properties(count);
    check(query(device, &count, properties.data()), "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR");
    properties.resize(count);
    s.cooperative_matrix_khr = true;
    for (const KhrMatrixProperties& p : properties)
        keep(s, true, {p.m, p.n, p.k}, p.a, p.b, p.c, p.result, p.scope);
}

void read_nv(const Instance& instance, VkPhysicalDevice device, DeviceSnapshot& s) {
    VkPhysicalDeviceCooperativeMatrixFeaturesNV matrix{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_NV};
    VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &matrix};
    instance.vk.vkGetPhysicalDeviceFeatures2(device, &features);
    const auto query = reinterpret_cast<PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesNV>(
        instance.vk.vkGetInstanceProcAddr(instance.handle(),
                                          "vkGetPhysicalDeviceCooperativeMatrixPropertiesNV"));
    if (matrix.cooperativeMatrix == VK_FALSE || query == nullptr) return;
    std::uint32_t count = 0;
    check(query(device, &count, nullptr), "vkGetPhysicalDeviceCooperativeMatrixPropertiesNV");
    std::vector<VkCooperativeMatrixPropertiesNV> properties(
        count, VkCooperativeMatrixPropertiesNV{VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_NV});
    check(query(device, &count, properties.data()), "vkGetPhysicalDeviceCooperativeMatrixPropertiesNV");
    properties.resize(count);
    s.cooperative_matrix_nv = true;
    for (const VkCooperativeMatrixPropertiesNV& p : properties)
        keep(s, false, {p.MSize, p.NSize, p.KSize}, p.AType, p.BType, p.CType, p.DType, p.scope);
}

}  // namespace

void read_matrix_units(const Instance& instance, VkPhysicalDevice device, bool has_khr, bool has_nv,
                       DeviceSnapshot& s) {
    if (has_khr && !instance.validation()) read_khr(instance, device, s);
    if (has_nv) read_nv(instance, device, s);
}

}  // namespace weft::core
