// SPDX-License-Identifier: Apache-2.0
// Which devices exist, what each can do, and why a device cannot be used.
//
// Example:
//     for (const weft::DeviceInfo& device : weft::list_devices())
//         std::printf("%s%s\n", device.name.c_str(), device.refused.empty() ? "" : ": cannot be used");
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/config.hpp>

namespace weft {

enum class DeviceType { discrete, integrated, virtual_gpu, cpu, other };
const char* to_string(DeviceType type) noexcept;

struct QueueFamilyInfo {
    std::uint32_t index = 0;
    std::uint32_t queue_count = 0;
    bool graphics = false, compute = false, transfer = false;
    std::uint32_t timestamp_valid_bits = 0;  ///< 0: no timestamps on this family
};

/// A shape of matrix units: the invocations of a subgroup multiply m x k and k x n matrices of float16 and
/// add the products in float32.
struct MatrixShape {
    std::uint32_t m = 0, n = 0, k = 0;
    bool operator==(const MatrixShape&) const = default;
};

struct DeviceLimits {
    std::uint64_t max_storage_buffer_range = 0;         ///< bytes one binding can span
    std::uint64_t max_buffer_bytes = 0;                 ///< bytes one buffer can hold
    std::uint64_t storage_buffer_offset_alignment = 1;  ///< bytes, power of two
    std::uint64_t non_coherent_atom_bytes = 1;          ///< bytes, power of two
    std::uint64_t import_alignment = 0;           ///< bytes for imported pointers; 0: import unsupported
    std::uint32_t max_workgroup_count[3] = {};    ///< workgroups per axis of a dispatch
    std::uint32_t max_workgroup_size[3] = {};     ///< invocations per axis of a workgroup
    std::uint32_t max_workgroup_invocations = 0;  ///< invocations of a workgroup
    std::uint32_t max_shared_memory_bytes = 0;
    std::uint32_t max_push_constant_bytes = 0;
    std::uint32_t max_storage_buffers = 0;  ///< storage buffers one program can bind
    std::uint32_t subgroup_size = 0;        ///< that the driver chooses
    /// The range of ProgramOptions::subgroup_size; both are subgroup_size if it cannot be chosen.
    std::uint32_t min_subgroup_size = 0, max_subgroup_size = 0;
    double timestamp_period_ns = 0;  ///< nanoseconds per tick
};

/// One physical device as the driver reports it.
struct DeviceInfo {
    std::uint32_t index = 0;  ///< position in list_devices(); valid for WEFT_DEVICE
    std::string name;
    std::string driver;       ///< name and version text of the driver
    std::string uuid;         ///< 32 hexadecimal digits
    std::string pci_address;  ///< as "0000:65:00.0"; empty: the driver does not say
    /// The NUMA node of the host whose memory is next to the device; -1: unknown, or the host has one node.
    int numa_node = -1;
    DeviceType type = DeviceType::other;
    std::uint32_t vendor_id = 0, device_id = 0, driver_version = 0;
    std::uint32_t api_major = 0, api_minor = 0;
    std::uint64_t device_memory_bytes = 0;        ///< sum of the device-local heaps
    std::uint64_t host_visible_device_bytes = 0;  ///< of these, bytes that the host can map
    bool unified_memory = false;                  ///< all device-local memory is host-visible
    bool shader_int64 = false, shader_float64 = false;
    bool import_host_memory = false, memory_budget = false, synchronization2 = false;
    bool subgroup_size_control = false;  ///< ProgramOptions::subgroup_size can be chosen
    bool full_subgroups = false;         ///< ProgramOptions::require_full_subgroups can be asked for
    bool subgroup_shuffles = false;      ///< shaders can shuffle values within a subgroup
    /// VK_KHR_cooperative_matrix and VK_NV_cooperative_matrix. weft enables those that exist. The first
    /// counts as absent under the validation layer.
    bool cooperative_matrix_khr = false, cooperative_matrix_nv = false;
    std::vector<MatrixShape> matrix_shapes_khr, matrix_shapes_nv;
    std::vector<QueueFamilyInfo> queue_families;
    DeviceLimits limits;
    std::vector<std::string> refused;  ///< why weft cannot use it; empty: usable
    bool chosen = false;               ///< a Backend made with the same Config takes this one
};

/// Every device that the loader reports, in its order, with refusals and the choice that a Backend would
/// make. Errors: no_loader; invalid_argument - an enum of the Config out of range. A device setting that
/// matches nothing is an error of Backend only.
std::vector<DeviceInfo> list_devices(const Config& config = Config::from_env());

}  // namespace weft
