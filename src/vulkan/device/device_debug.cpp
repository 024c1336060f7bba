// SPDX-License-Identifier: Apache-2.0
// Completes vulkan/device/device.hpp: names and labels for tools, and why the device was lost.
#include <algorithm>
#include <string>
#include <vector>

#include "base/driver_text.hpp"
#include "vulkan/device/device.hpp"

namespace weft::core {
namespace {

/// Some tools copy names into buffers of a fixed size.
constexpr std::size_t kMostNameBytes = 255;

}  // namespace

/// Each recorded label costs driver time, so labels are recorded only if something reads them: the validation
/// layer, or a tool that the driver or the loader reports.
bool Device::observed() const {
    if (instance_->validation()) return true;
    if (instance_->vk.vkGetPhysicalDeviceToolProperties == nullptr || snapshot_.api_minor < 3) return false;
    std::uint32_t count = 0;
    if (instance_->vk.vkGetPhysicalDeviceToolProperties(physical_, &count, nullptr) < 0) return false;
    std::vector<VkPhysicalDeviceToolProperties> tools(count,
                                                      {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TOOL_PROPERTIES});
    if (count == 0 || instance_->vk.vkGetPhysicalDeviceToolProperties(physical_, &count, tools.data()) < 0)
        return false;
    tools.resize(count);
    return std::any_of(tools.begin(), tools.end(), [](const VkPhysicalDeviceToolProperties& tool) {
        return (tool.purposes & VK_TOOL_PURPOSE_DEBUG_MARKERS_BIT_EXT) != 0;
    });
}

void Device::name_object(VkObjectType type, std::uint64_t handle, std::string_view name) const noexcept {
    try {
        const std::string text(name.substr(0, kMostNameBytes));
        VkDebugUtilsObjectNameInfoEXT info{VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT};
        info.objectType = type;
        info.objectHandle = handle;
        info.pObjectName = text.c_str();
        instance_->vk.vkSetDebugUtilsObjectNameEXT(handle_, &info);
    } catch (...) {
        // If memory for the name is short, the object has none.
    }
}

std::string Device::roles_of(const PhysicalQueue& queue, const char* separator) const {
    std::string roles;
    for (std::size_t role = 0; role < kQueueRoles; ++role)
        if (roles_[role] == &queue) roles += (roles.empty() ? "" : separator) + std::string(kRoleNames[role]);
    return roles;
}

void Device::name_queues() const noexcept {
    try {
        for (const auto& queue : queues_)
            set_name(VK_OBJECT_TYPE_QUEUE, queue->handle, "weft " + roles_of(*queue, "+") + " queue");
        set_name(VK_OBJECT_TYPE_DEVICE, handle_, "weft device");
    } catch (...) {
        // If memory is short, the queues have no names.
    }
}

void Device::open_label(VkCommandBuffer commands, std::string_view name) const noexcept {
    // Every begin needs an end, so a label must not be left out for lack of memory.
    char text[kMostNameBytes + 1];
    text[name.copy(text, kMostNameBytes)] = 0;
    VkDebugUtilsLabelEXT label{VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT};
    label.pLabelName = text;
    instance_->vk.vkCmdBeginDebugUtilsLabelEXT(commands, &label);
}

std::string Device::read_fault() const noexcept {
    if (!plan_.device_fault || vk.vkGetDeviceFaultInfoEXT == nullptr) return {};
    try {
        constexpr std::uint32_t kMostEntries = 64;
        VkDeviceFaultCountsEXT counts{VK_STRUCTURE_TYPE_DEVICE_FAULT_COUNTS_EXT};
        if (vk.vkGetDeviceFaultInfoEXT(handle_, &counts, nullptr) < 0) return {};
        counts.addressInfoCount = std::min(counts.addressInfoCount, kMostEntries);
        counts.vendorInfoCount = std::min(counts.vendorInfoCount, kMostEntries);
        counts.vendorBinarySize = 0;
        std::vector<VkDeviceFaultAddressInfoEXT> addresses(counts.addressInfoCount);
        std::vector<VkDeviceFaultVendorInfoEXT> vendor(counts.vendorInfoCount);
        VkDeviceFaultInfoEXT info{VK_STRUCTURE_TYPE_DEVICE_FAULT_INFO_EXT};
        info.pAddressInfos = addresses.data();
        info.pVendorInfos = vendor.data();
        if (vk.vkGetDeviceFaultInfoEXT(handle_, &counts, &info) < 0) return {};
        const auto text = [](const char(&chars)[VK_MAX_DESCRIPTION_SIZE]) {
            return std::string(chars, std::find(chars, chars + VK_MAX_DESCRIPTION_SIZE, '\0'));
        };
        DeviceFault fault{text(info.description), {}, {}};
        for (std::uint32_t i = 0; i < std::min<std::size_t>(counts.addressInfoCount, addresses.size()); ++i)
            fault.addresses.push_back({static_cast<std::uint32_t>(addresses[i].addressType),
                                       addresses[i].reportedAddress, addresses[i].addressPrecision});
        for (std::uint32_t i = 0; i < std::min<std::size_t>(counts.vendorInfoCount, vendor.size()); ++i)
            fault.vendor.push_back(
                {text(vendor[i].description), vendor[i].vendorFaultCode, vendor[i].vendorFaultData});
        const std::string line = fault_text(fault);
        return line.empty() ? line : "the driver reports: " + line;
    } catch (...) {
        return {};  // the loss must be reported in any case
    }
}

void Device::give_up(const std::string& reason) noexcept {
    if (lost_.exchange(true)) return;
    try {
        log().write(LogLevel::error, "device given up: " + reason);
        const std::lock_guard lock(fault_mutex_);
        fault_ = reason;
    } catch (...) {
        // The device counts as lost; only the reason is missing.
    }
}

void Device::lose(const char* what) {
    // The first thread that notices asks the driver. Others do not wait for the answer; they report the loss
    // without it.
    if (!lost_.exchange(true)) {
        std::string fault = read_fault();
        if (!fault.empty()) log().write(LogLevel::error, "device lost: " + fault);
        const std::lock_guard lock(fault_mutex_);
        fault_ = std::move(fault);
    }
    std::string detail;
    {
        const std::lock_guard lock(fault_mutex_);
        detail = fault_;
    }
    throw_result(VK_ERROR_DEVICE_LOST, what, detail);
}

}  // namespace weft::core
