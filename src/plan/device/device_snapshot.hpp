// SPDX-License-Identifier: Apache-2.0
// Everything that plans may use, read once from each physical device. Plain data without Vulkan types, so
// that unit tests can build devices by hand.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <weft/device.hpp>

namespace weft::core {

struct HeapSnapshot {
    std::uint64_t bytes = 0;
    bool device_local = false;
};

struct MemoryTypeSnapshot {
    std::uint32_t heap = 0;
    bool device_local = false, host_visible = false, host_coherent = false, host_cached = false;
};

struct QueueFamilySnapshot {
    std::uint32_t count = 0;
    bool graphics = false, compute = false, transfer = false, sparse = false, video = false,
         optical_flow = false;
    std::uint32_t timestamp_valid_bits = 0;
    /// Vulkan lets a compute or graphics family leave the transfer bit out although it can copy.
    bool can_transfer() const { return transfer || compute || graphics; }
};

struct DeviceSnapshot {
    std::string name;
    std::string driver_text;  // driver name and version for people
    std::array<std::uint8_t, 16> uuid{};
    std::array<std::uint8_t, 16> driver_uuid{};
    std::array<std::uint8_t, 16> cache_uuid{};
    std::string pci_address;  // as "0000:65:00.0"; empty: unknown
    int numa_node = -1;       // of the host, next to the device; -1: unknown, or the host has one node
    DeviceType type = DeviceType::other;
    std::uint32_t vendor_id = 0, device_id = 0, driver_version = 0;
    std::uint32_t api_major = 1, api_minor = 0;
    // Features. Each must be known to enabled_part (adoption.cpp) too.
    bool timeline_semaphores = false, synchronization2 = false, host_query_reset = false;
    bool shader_int64 = false, shader_float64 = false, shader_int16 = false, shader_int8 = false;
    bool shader_float16 = false, storage_16bit = false, storage_8bit = false, buffer_device_address = false;
    bool variable_pointers = false, vulkan_memory_model = false, scalar_block_layout = false;
    bool subgroup_size_control = false, full_subgroups = false;  // for compute shaders
    bool device_fault = false;
    bool cooperative_matrix_khr = false, cooperative_matrix_nv = false;  // extension and feature
    // Extensions.
    bool subgroup_size_extension = false;  // VK_EXT_subgroup_size_control
    bool external_memory_host = false, external_memory_fd = false, memory_budget = false;
    /// Whether memory of buffers, and timeline semaphores, can be exported and imported as file descriptors.
    /// Both the extension and the driver must allow it.
    bool shared_buffers_fd = false, shared_timelines_fd = false;
    bool calibrated_timestamps_ext = false, calibrated_timestamps_khr = false;
    std::uint32_t subgroup_operations = 0;  // VkSubgroupFeatureFlags where the compute stage has them, else 0
    std::vector<MatrixShape> matrix_shapes_khr, matrix_shapes_nv;
    std::vector<HeapSnapshot> heaps;
    std::vector<MemoryTypeSnapshot> memory_types;
    std::vector<QueueFamilySnapshot> families;
    std::uint32_t max_workgroup_subgroups = 0;  // most subgroups of a workgroup if their size is chosen
    std::uint64_t max_allocation_bytes = ~std::uint64_t{0};
    DeviceLimits limits;
};

}  // namespace weft::core
