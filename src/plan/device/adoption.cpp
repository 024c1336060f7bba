// SPDX-License-Identifier: Apache-2.0
#include "plan/device/adoption.hpp"

#include <algorithm>
#include <tuple>

#include <weft/error.hpp>

namespace weft::core {
namespace {

/// The features that a device has only if it was made with them.
constexpr bool DeviceSnapshot::*kFeatures[] = {
    &DeviceSnapshot::timeline_semaphores,   &DeviceSnapshot::synchronization2,
    &DeviceSnapshot::host_query_reset,      &DeviceSnapshot::shader_int64,
    &DeviceSnapshot::shader_float64,        &DeviceSnapshot::shader_int16,
    &DeviceSnapshot::shader_int8,           &DeviceSnapshot::shader_float16,
    &DeviceSnapshot::storage_16bit,         &DeviceSnapshot::storage_8bit,
    &DeviceSnapshot::buffer_device_address, &DeviceSnapshot::variable_pointers,
    &DeviceSnapshot::vulkan_memory_model,   &DeviceSnapshot::scalar_block_layout,
    &DeviceSnapshot::subgroup_size_control, &DeviceSnapshot::full_subgroups,
    &DeviceSnapshot::device_fault,          &DeviceSnapshot::cooperative_matrix_khr,
    &DeviceSnapshot::cooperative_matrix_nv,
};

constexpr std::uint32_t kLeastMinor = 2;

std::string version_text(std::uint32_t major, std::uint32_t minor) {
    return std::to_string(major) + "." + std::to_string(minor);
}

void check_queue(const DeviceSnapshot& device, const char* role, QueueSlot slot) {
    const std::string where = std::string("native::adopt: the ") + role + " queue ";
    if (slot.family >= device.families.size())
        throw Error(Errc::invalid_argument, where + "has a family that the device lacks (got " +
                                                std::to_string(slot.family) + ", need below " +
                                                std::to_string(device.families.size()) + ")");
    const QueueFamilySnapshot& family = device.families[slot.family];
    if (slot.queue >= family.count)
        throw Error(Errc::invalid_argument, where + "has an index beyond its family (got " +
                                                std::to_string(slot.queue) + ", need below " +
                                                std::to_string(family.count) + ")");
}

/// A device cannot have been made with an extension that neither it nor a layer lists, so such a name is a
/// mistake, for example that of an instance extension. Vulkan does not report which of the others were
/// enabled.
void check_extensions(const DeviceSnapshot& device, const Adoption& adoption) {
    for (const std::string& name : adoption.extensions)
        if (std::find(adoption.possible_extensions.begin(), adoption.possible_extensions.end(), name) ==
            adoption.possible_extensions.end())
            throw Error(Errc::invalid_argument,
                        "native::adopt: no such extension (got \"" + name +
                            "\", need names that vkEnumerateDeviceExtensionProperties lists for " +
                            device.name + ")");
}

}  // namespace

DeviceSnapshot enabled_part(const DeviceSnapshot& device, const Adoption& adoption) {
    DeviceSnapshot part = device;
    for (const auto feature : kFeatures) part.*feature = device.*feature && adoption.enabled.*feature;
    const auto has = [&](const char* name) {
        return std::find(adoption.extensions.begin(), adoption.extensions.end(), name) !=
               adoption.extensions.end();
    };
    part.external_memory_host = device.external_memory_host && has("VK_EXT_external_memory_host");
    if (!part.external_memory_host) part.limits.import_alignment = 0;
    part.external_memory_fd = device.external_memory_fd && has("VK_KHR_external_memory_fd");
    part.shared_buffers_fd = device.shared_buffers_fd && part.external_memory_fd;
    part.shared_timelines_fd = device.shared_timelines_fd && has("VK_KHR_external_semaphore_fd");
    part.subgroup_size_extension = device.subgroup_size_extension && has("VK_EXT_subgroup_size_control");
    part.memory_budget = device.memory_budget && has("VK_EXT_memory_budget");
    part.calibrated_timestamps_ext = device.calibrated_timestamps_ext && has("VK_EXT_calibrated_timestamps");
    part.calibrated_timestamps_khr = device.calibrated_timestamps_khr && has("VK_KHR_calibrated_timestamps");
    part.device_fault = part.device_fault && has("VK_EXT_device_fault");
    part.cooperative_matrix_khr = part.cooperative_matrix_khr && has("VK_KHR_cooperative_matrix");
    part.cooperative_matrix_nv = part.cooperative_matrix_nv && has("VK_NV_cooperative_matrix");
    if (!part.cooperative_matrix_khr) part.matrix_shapes_khr.clear();
    if (!part.cooperative_matrix_nv) part.matrix_shapes_nv.clear();
    if (std::tie(adoption.api_major, adoption.api_minor) < std::tie(device.api_major, device.api_minor)) {
        part.api_major = adoption.api_major;
        part.api_minor = adoption.api_minor;
    }
    if (part.api_major == 1 && part.api_minor < 3) {
        part.synchronization2 = false;  // weft uses the names that it has in Vulkan 1.3
        if (!part.subgroup_size_extension) part.subgroup_size_control = part.full_subgroups = false;
    }
    if (!part.subgroup_size_control)
        part.limits.min_subgroup_size = part.limits.max_subgroup_size = part.limits.subgroup_size;
    return part;
}

void check_adoption(const DeviceSnapshot& device, const Adoption& adoption) {
    if (adoption.api_major < 1 || (adoption.api_major == 1 && adoption.api_minor < kLeastMinor))
        throw Error(Errc::unsupported, "native::adopt: api_version is too old (got " +
                                           version_text(adoption.api_major, adoption.api_minor) +
                                           ", need 1.2 or newer in VkApplicationInfo::apiVersion)");
    check_extensions(device, adoption);
    check_queue(device, "compute", adoption.compute);
    if (adoption.upload) check_queue(device, "upload", *adoption.upload);
    if (adoption.download) check_queue(device, "download", *adoption.download);
    for (const std::uint32_t family : adoption.shared_families) check_queue(device, "shared", {family, 0});
    const auto& families = device.families;
    if (!families[adoption.compute.family].compute)
        throw Error(Errc::unsupported, "native::adopt: the compute queue cannot compute (got family " +
                                           std::to_string(adoption.compute.family) +
                                           ", need one with VK_QUEUE_COMPUTE_BIT)");
    for (const QueueRole role : {QueueRole::upload, QueueRole::download})
        if (const QueueSlot slot = adoption.slot(role); !families[slot.family].can_transfer())
            throw Error(Errc::unsupported, std::string("native::adopt: the ") +
                                               (role == QueueRole::upload ? "upload" : "download") +
                                               " queue cannot copy (got family " +
                                               std::to_string(slot.family) +
                                               ", need one with VK_QUEUE_TRANSFER_BIT)");
    const std::vector<std::string> why = refusals(enabled_part(device, adoption));
    if (why.empty()) return;
    std::string text;
    for (const std::string& reason : why) text += (text.empty() ? "" : "; ") + reason;
    throw Error(Errc::unsupported, "native::adopt: " + device.name + " as it was made: " + text);
}

QueuePlan adopted_queues(const Adoption& adoption, QueueMode mode) {
    const bool single = mode == QueueMode::single;
    const auto slot = [&](QueueRole role) { return single ? adoption.compute : adoption.slot(role); };
    return queue_plan(
        {slot(QueueRole::upload), slot(QueueRole::compute), slot(QueueRole::download)}, mode,
        std::string("queues of the application") + (single ? "; one queue asked for by queues=single" : ""),
        adoption.shared_families);
}

}  // namespace weft::core
