// SPDX-License-Identifier: Apache-2.0
#include "vulkan/device/read_snapshot.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "host/numa_nodes.hpp"
#include "vulkan/device/device.hpp"
#include "vulkan/device/matrix_units.hpp"
#include "vulkan/device/vulkan.hpp"

namespace weft::core {
namespace {

DeviceType device_type(VkPhysicalDeviceType type) {
    switch (type) {
        case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
            return DeviceType::discrete;
        case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
            return DeviceType::integrated;
        case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
            return DeviceType::virtual_gpu;
        case VK_PHYSICAL_DEVICE_TYPE_CPU:
            return DeviceType::cpu;
        default:
            return DeviceType::other;
    }
}

void read_families(const InstanceTable& vk, VkPhysicalDevice device, DeviceSnapshot& s) {
    std::uint32_t count = 0;
    vk.vkGetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    vk.vkGetPhysicalDeviceQueueFamilyProperties(device, &count, families.data());
    constexpr VkQueueFlags kVideoDecode = 0x20, kVideoEncode = 0x40, kOpticalFlow = 0x100;
    for (const auto& f : families) {
        QueueFamilySnapshot q;
        q.count = f.queueCount;
        q.graphics = (f.queueFlags & VK_QUEUE_GRAPHICS_BIT) != 0;
        q.compute = (f.queueFlags & VK_QUEUE_COMPUTE_BIT) != 0;
        q.transfer = (f.queueFlags & VK_QUEUE_TRANSFER_BIT) != 0;
        q.sparse = (f.queueFlags & VK_QUEUE_SPARSE_BINDING_BIT) != 0;
        q.video = (f.queueFlags & (kVideoDecode | kVideoEncode)) != 0;
        q.optical_flow = (f.queueFlags & kOpticalFlow) != 0;
        q.timestamp_valid_bits = f.timestampValidBits;
        s.families.push_back(q);
    }
}

void read_memory(const InstanceTable& vk, VkPhysicalDevice device, DeviceSnapshot& s) {
    VkPhysicalDeviceMemoryProperties memory;
    vk.vkGetPhysicalDeviceMemoryProperties(device, &memory);
    for (std::uint32_t i = 0; i < memory.memoryHeapCount; ++i)
        s.heaps.push_back({memory.memoryHeaps[i].size,
                           (memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0});
    for (std::uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
        const VkMemoryPropertyFlags flags = memory.memoryTypes[i].propertyFlags;
        s.memory_types.push_back({memory.memoryTypes[i].heapIndex,
                                  (flags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0,
                                  (flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0,
                                  (flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) != 0,
                                  (flags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) != 0});
    }
}

void read_limits(const VkPhysicalDeviceLimits& l, DeviceLimits& out) {
    out.max_storage_buffer_range = l.maxStorageBufferRange;
    out.storage_buffer_offset_alignment = std::max<VkDeviceSize>(1, l.minStorageBufferOffsetAlignment);
    out.non_coherent_atom_bytes = std::max<VkDeviceSize>(1, l.nonCoherentAtomSize);
    for (int i = 0; i < 3; ++i) {
        out.max_workgroup_count[i] = l.maxComputeWorkGroupCount[i];
        out.max_workgroup_size[i] = l.maxComputeWorkGroupSize[i];
    }
    out.max_workgroup_invocations = l.maxComputeWorkGroupInvocations;
    out.max_shared_memory_bytes = l.maxComputeSharedMemorySize;
    out.max_push_constant_bytes = l.maxPushConstantsSize;
    out.max_storage_buffers = std::min({16u, l.maxPerStageDescriptorStorageBuffers,
                                        l.maxDescriptorSetStorageBuffers, l.maxPerStageResources});
    out.timestamp_period_ns = static_cast<double>(l.timestampPeriod);
}

void read_subgroups(const VkPhysicalDeviceSubgroupProperties& basic,
                    const VkPhysicalDeviceSubgroupSizeControlProperties& control, DeviceSnapshot& s) {
    s.limits.subgroup_size = s.limits.min_subgroup_size = s.limits.max_subgroup_size = basic.subgroupSize;
    if ((basic.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0)
        s.subgroup_operations = basic.supportedOperations;
    // The feature may exist for other stages only. Without the feature the structure was not filled in.
    s.subgroup_size_control =
        s.subgroup_size_control && (control.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0;
    if (!s.subgroup_size_control) return;
    s.limits.min_subgroup_size = control.minSubgroupSize;
    s.limits.max_subgroup_size = control.maxSubgroupSize;
    s.max_workgroup_subgroups = control.maxComputeWorkgroupSubgroups;
}

void read_properties(const InstanceTable& vk, VkPhysicalDevice device, bool has_import, bool api_1_2,
                     DeviceSnapshot& s) {
    VkPhysicalDeviceSubgroupSizeControlProperties control{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES};
    VkPhysicalDeviceExternalMemoryHostPropertiesEXT import{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT};
    VkPhysicalDeviceMaintenance3Properties maintenance{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES};
    VkPhysicalDeviceSubgroupProperties subgroup{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES,
                                                &maintenance};
    VkPhysicalDeviceIDProperties ids{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES, &subgroup};
    VkPhysicalDeviceDriverProperties driver{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES, &ids};
    VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    properties.pNext = api_1_2 ? static_cast<void*>(&driver) : static_cast<void*>(&ids);
    if (has_import) maintenance.pNext = &import;
    control.pNext = maintenance.pNext;
    if (s.subgroup_size_control || s.full_subgroups) maintenance.pNext = &control;
    vk.vkGetPhysicalDeviceProperties2(device, &properties);

    const VkPhysicalDeviceProperties& p = properties.properties;
    s.name = p.deviceName;
    s.type = device_type(p.deviceType);
    s.vendor_id = p.vendorID;
    s.device_id = p.deviceID;
    s.driver_version = p.driverVersion;
    std::copy_n(ids.deviceUUID, s.uuid.size(), s.uuid.begin());
    std::copy_n(ids.driverUUID, s.driver_uuid.size(), s.driver_uuid.begin());
    std::copy_n(p.pipelineCacheUUID, s.cache_uuid.size(), s.cache_uuid.begin());
    s.driver_text =
        std::string(driver.driverName) + (driver.driverInfo[0] != 0 ? " " : "") + driver.driverInfo;
    s.max_allocation_bytes = maintenance.maxMemoryAllocationSize;
    s.limits.max_buffer_bytes = maintenance.maxMemoryAllocationSize;
    read_subgroups(subgroup, control, s);
    if (has_import) s.limits.import_alignment = import.minImportedHostPointerAlignment;
    read_limits(p.limits, s.limits);
}

/// The limit on one allocation is soft and, on some devices, far below the size that buffers may have (4 GiB
/// of 80). The driver reports that size; without the newer query only the soft limit is known.
void read_buffer_limit(const InstanceTable& vk, VkPhysicalDevice device, DeviceSnapshot& s) {
    if (s.api_major == 1 && s.api_minor < 3) return;
    VkPhysicalDeviceMaintenance4Properties maintenance{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES};
    VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &maintenance};
    vk.vkGetPhysicalDeviceProperties2(device, &properties);
    std::uint64_t heap = 0;
    for (const HeapSnapshot& h : s.heaps) heap = std::max(heap, h.bytes);
    s.limits.max_buffer_bytes =
        std::max(s.limits.max_buffer_bytes, std::min<std::uint64_t>(maintenance.maxBufferSize, heap));
}

/// Where the device is on the bus, and which memory of the host is next to it.
void read_place(const InstanceTable& vk, VkPhysicalDevice device, DeviceSnapshot& s) {
    VkPhysicalDevicePCIBusInfoPropertiesEXT bus{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT};
    VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &bus};
    vk.vkGetPhysicalDeviceProperties2(device, &properties);
    char address[32];
    std::snprintf(address, sizeof address, "%04x:%02x:%02x.%x", bus.pciDomain, bus.pciBus, bus.pciDevice,
                  bus.pciFunction);
    s.pci_address = address;
    s.numa_node = numa_node_of(s.pci_address);
}

template <class Structure>
const Structure& as(const VkBaseInStructure* link) {
    return *reinterpret_cast<const Structure*>(link);
}

/// Notes a feature that is on in the structure behind `link`.
template <class Structure>
void add(const VkBaseInStructure* link, VkBool32 Structure::*feature, bool& on) {
    on |= as<Structure>(link).*feature != 0;
}

void read_combined(const VkBaseInStructure* link, DeviceSnapshot& s) {
    if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES) {
        const auto& f = as<VkPhysicalDeviceVulkan11Features>(link);
        s.storage_16bit |= f.storageBuffer16BitAccess != 0;
        s.variable_pointers |= f.variablePointers != 0;
    } else if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES) {
        const auto& f = as<VkPhysicalDeviceVulkan12Features>(link);
        s.timeline_semaphores |= f.timelineSemaphore != 0;
        s.host_query_reset |= f.hostQueryReset != 0;
        s.shader_float16 |= f.shaderFloat16 != 0;
        s.shader_int8 |= f.shaderInt8 != 0;
        s.storage_8bit |= f.storageBuffer8BitAccess != 0;
        s.scalar_block_layout |= f.scalarBlockLayout != 0;
        s.buffer_device_address |= f.bufferDeviceAddress != 0;
        s.vulkan_memory_model |= f.vulkanMemoryModel != 0;
    } else if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES) {
        const auto& f = as<VkPhysicalDeviceVulkan13Features>(link);
        s.synchronization2 |= f.synchronization2 != 0;
        s.subgroup_size_control |= f.subgroupSizeControl != 0;
        s.full_subgroups |= f.computeFullSubgroups != 0;
    }
}

/// The structures of single extensions, which are older than those of whole versions.
void read_single(const VkBaseInStructure* link, DeviceSnapshot& s) {
    switch (link->sType) {
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES:
            return add(link, &VkPhysicalDeviceTimelineSemaphoreFeatures::timelineSemaphore,
                       s.timeline_semaphores);
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES:
            return add(link, &VkPhysicalDeviceHostQueryResetFeatures::hostQueryReset, s.host_query_reset);
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES:
            add(link, &VkPhysicalDeviceShaderFloat16Int8Features::shaderFloat16, s.shader_float16);
            return add(link, &VkPhysicalDeviceShaderFloat16Int8Features::shaderInt8, s.shader_int8);
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES:
            return add(link, &VkPhysicalDevice8BitStorageFeatures::storageBuffer8BitAccess, s.storage_8bit);
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES:
            return add(link, &VkPhysicalDevice16BitStorageFeatures::storageBuffer16BitAccess,
                       s.storage_16bit);
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VARIABLE_POINTERS_FEATURES:
            return add(link, &VkPhysicalDeviceVariablePointersFeatures::variablePointers,
                       s.variable_pointers);
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SCALAR_BLOCK_LAYOUT_FEATURES:
            return add(link, &VkPhysicalDeviceScalarBlockLayoutFeatures::scalarBlockLayout,
                       s.scalar_block_layout);
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES:
            return add(link, &VkPhysicalDeviceBufferDeviceAddressFeatures::bufferDeviceAddress,
                       s.buffer_device_address);
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES:
            return add(link, &VkPhysicalDeviceVulkanMemoryModelFeatures::vulkanMemoryModel,
                       s.vulkan_memory_model);
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES:
            return add(link, &VkPhysicalDeviceSynchronization2Features::synchronization2, s.synchronization2);
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES:
            add(link, &VkPhysicalDeviceSubgroupSizeControlFeatures::subgroupSizeControl,
                s.subgroup_size_control);
            return add(link, &VkPhysicalDeviceSubgroupSizeControlFeatures::computeFullSubgroups,
                       s.full_subgroups);
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_NV:
            return add(link, &VkPhysicalDeviceCooperativeMatrixFeaturesNV::cooperativeMatrix,
                       s.cooperative_matrix_nv);
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT:
            return add(link, &VkPhysicalDeviceFaultFeaturesEXT::deviceFault, s.device_fault);
        default:
            return;
    }
}

void read_features(const InstanceTable& vk, VkPhysicalDevice device, bool has_fault, DeviceSnapshot& s) {
    VkPhysicalDeviceVulkan13Features f13{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
    VkPhysicalDeviceSubgroupSizeControlFeatures subgroups{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES};
    VkPhysicalDeviceVulkan12Features f12{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    VkPhysicalDeviceVulkan11Features f11{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, &f12};
    VkPhysicalDeviceFaultFeaturesEXT fault{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT, &f11};
    VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &f11};
    if (has_fault) features.pNext = &fault;
    if (s.api_major > 1 || s.api_minor >= 3)
        f12.pNext = &f13;
    else if (s.subgroup_size_extension)
        f12.pNext = &subgroups;
    vk.vkGetPhysicalDeviceFeatures2(device, &features);
    add_features(features, s);
    // The first feature without the second would forbid plain atomics.
    s.vulkan_memory_model = s.vulkan_memory_model && f12.vulkanMemoryModelDeviceScope != 0;
}

bool can_share_buffers(const InstanceTable& vk, VkPhysicalDevice device) {
    VkPhysicalDeviceExternalBufferInfo info{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO};
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    info.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    VkExternalBufferProperties properties{VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
    vk.vkGetPhysicalDeviceExternalBufferProperties(device, &info, &properties);
    constexpr VkExternalMemoryFeatureFlags kBoth =
        VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT;
    return (properties.externalMemoryProperties.externalMemoryFeatures & kBoth) == kBoth;
}

bool can_share_timelines(const InstanceTable& vk, VkPhysicalDevice device) {
    VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO};
    type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    VkPhysicalDeviceExternalSemaphoreInfo info{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO,
                                               &type};
    info.handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
    VkExternalSemaphoreProperties properties{VK_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_PROPERTIES};
    vk.vkGetPhysicalDeviceExternalSemaphoreProperties(device, &info, &properties);
    return (properties.externalSemaphoreFeatures & VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT) != 0;
}

}  // namespace

void add_features(const VkPhysicalDeviceFeatures2& features, DeviceSnapshot& s) {
    s.shader_int64 |= features.features.shaderInt64 != 0;
    s.shader_float64 |= features.features.shaderFloat64 != 0;
    s.shader_int16 |= features.features.shaderInt16 != 0;
    for (auto link = static_cast<const VkBaseInStructure*>(features.pNext); link != nullptr;
         link = link->pNext) {
        read_combined(link, s);
        read_single(link, s);
        // Older headers do not have it in their enumeration.
        if (link->sType == kKhrMatrixFeaturesType)
            s.cooperative_matrix_khr |= as<KhrMatrixFeatures>(link).cooperativeMatrix != 0;
    }
}

std::vector<std::string> device_extensions(const InstanceTable& vk, VkPhysicalDevice device,
                                           const char* layer) {
    std::uint32_t count = 0;
    check(vk.vkEnumerateDeviceExtensionProperties(device, layer, &count, nullptr),
          "vkEnumerateDeviceExtensionProperties");
    std::vector<VkExtensionProperties> extensions(count);
    check(vk.vkEnumerateDeviceExtensionProperties(device, layer, &count, extensions.data()),
          "vkEnumerateDeviceExtensionProperties");
    std::vector<std::string> names;
    for (const VkExtensionProperties& e : extensions) names.emplace_back(e.extensionName);
    return names;
}

DeviceSnapshot read_snapshot(const Instance& instance, VkPhysicalDevice device) {
    const InstanceTable& vk = instance.vk;
    DeviceSnapshot s;
    VkPhysicalDeviceProperties basic;
    vk.vkGetPhysicalDeviceProperties(device, &basic);
    s.api_major = VK_API_VERSION_MAJOR(basic.apiVersion);
    s.api_minor = VK_API_VERSION_MINOR(basic.apiVersion);
    s.name = basic.deviceName;
    s.type = device_type(basic.deviceType);
    if (s.api_major == 1 && s.api_minor < 1)
        return s;  // it lacks the queries; the plan refuses it because of its version

    const std::vector<std::string> extensions = device_extensions(vk, device, nullptr);
    const auto has = [&](const char* name) {
        return std::find(extensions.begin(), extensions.end(), name) != extensions.end();
    };
    const bool api_1_2 = s.api_major > 1 || s.api_minor >= 2;
    s.external_memory_host = has(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
    s.external_memory_fd = has(VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME);
    s.shared_buffers_fd = s.external_memory_fd && can_share_buffers(vk, device);
    s.shared_timelines_fd =
        api_1_2 && has(VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME) && can_share_timelines(vk, device);
    s.memory_budget = has(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
    s.subgroup_size_extension = has(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
    if (api_1_2) read_features(vk, device, has(VK_EXT_DEVICE_FAULT_EXTENSION_NAME), s);
    read_matrix_units(instance, device, has(kKhrCooperativeMatrix),
                      has(VK_NV_COOPERATIVE_MATRIX_EXTENSION_NAME), s);
    s.calibrated_timestamps_ext = has(VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME);
    s.calibrated_timestamps_khr = has(kKhrCalibratedTimestamps);
    read_properties(vk, device, s.external_memory_host, api_1_2, s);
    read_families(vk, device, s);
    read_memory(vk, device, s);
    read_buffer_limit(vk, device, s);
    if (has(VK_EXT_PCI_BUS_INFO_EXTENSION_NAME)) read_place(vk, device, s);
    return s;
}

}  // namespace weft::core
