// SPDX-License-Identifier: Apache-2.0
#include "vulkan/device/device.hpp"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "host/numa_nodes.hpp"
#include "vulkan/device/matrix_units.hpp"

namespace weft::core {
namespace {

/// Optional features are enabled when the device has them: user shaders may need any of them.
struct Features {
    VkPhysicalDeviceFeatures2 core{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
    VkPhysicalDeviceVulkan11Features v11{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES};
    VkPhysicalDeviceVulkan12Features v12{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    VkPhysicalDeviceVulkan13Features v13{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
    VkPhysicalDeviceSubgroupSizeControlFeatures subgroups{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES};
    VkPhysicalDeviceFaultFeaturesEXT fault{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT};

    KhrMatrixFeatures matrix_khr;
    VkPhysicalDeviceCooperativeMatrixFeaturesNV matrix_nv{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_NV};

    Features(const DeviceSnapshot& s, const DevicePlan& plan) {
        core.pNext = &v11;
        v11.pNext = &v12;
        const bool control = plan.subgroup_size_control || plan.full_subgroups;
        if (plan.synchronization2 || (control && !plan.subgroup_size_extension))
            v12.pNext = &v13;
        else if (control)
            v12.pNext = &subgroups;
        core.features.shaderInt64 = s.shader_int64;
        core.features.shaderFloat64 = s.shader_float64;
        core.features.shaderInt16 = s.shader_int16;
        v11.storageBuffer16BitAccess = s.storage_16bit;
        v11.variablePointers = s.variable_pointers;
        v11.variablePointersStorageBuffer = s.variable_pointers;
        v12.timelineSemaphore = VK_TRUE;
        v12.hostQueryReset = s.host_query_reset;
        v12.shaderFloat16 = s.shader_float16;
        v12.shaderInt8 = s.shader_int8;
        v12.storageBuffer8BitAccess = s.storage_8bit;
        v12.scalarBlockLayout = s.scalar_block_layout;
        v12.vulkanMemoryModel = s.vulkan_memory_model;
        v12.vulkanMemoryModelDeviceScope = s.vulkan_memory_model;
        v12.bufferDeviceAddress = s.buffer_device_address;
        v13.synchronization2 = plan.synchronization2;
        v13.subgroupSizeControl = subgroups.subgroupSizeControl = plan.subgroup_size_control;
        v13.computeFullSubgroups = subgroups.computeFullSubgroups = plan.full_subgroups;
        fault.deviceFault = VK_TRUE;
        matrix_khr.cooperativeMatrix = matrix_nv.cooperativeMatrix = VK_TRUE;
        if (plan.device_fault) chain(fault);
        if (s.cooperative_matrix_khr) chain(matrix_khr);
        if (s.cooperative_matrix_nv) chain(matrix_nv);
    }

  private:
    template <class Structure>
    void chain(Structure& structure) {
        structure.pNext = core.pNext;
        core.pNext = &structure;
    }
};

}  // namespace

Device::Device(std::shared_ptr<Instance> instance, VkPhysicalDevice physical, DeviceSnapshot snapshot,
               DevicePlan plan, AdoptedDevice adopted)
    : adopted_(std::move(adopted)),
      instance_(std::move(instance)),
      physical_(physical),
      snapshot_(std::move(snapshot)),
      plan_(std::move(plan)),
      node_cpus_(usable_cpus_of(plan_.numa_node)),
      handle_(adopted_.handle),
      names_(instance_->vk.vkSetDebugUtilsObjectNameEXT != nullptr) {
    if (adopted_.handle == VK_NULL_HANDLE) create();
    try {
        vk = instance_->device_table(handle_);
        labels_ = instance_->vk.vkCmdBeginDebugUtilsLabelEXT != nullptr && observed();
        take_queues();
        create_layouts();
    } catch (...) {
        if (set_layout_ != VK_NULL_HANDLE) vk.vkDestroyDescriptorSetLayout(handle_, set_layout_, nullptr);
        if (adopted_.handle == VK_NULL_HANDLE) vk.vkDestroyDevice(handle_, nullptr);
        throw;
    }
}

void Device::create() {
    // One request for each family, with as many queues as the roles use.
    std::vector<VkDeviceQueueCreateInfo> requests;
    std::vector<std::vector<float>> priorities;
    for (const std::uint32_t family : plan_.queues.families) {
        std::uint32_t count = 0;
        for (const QueueSlot& slot : plan_.queues.slots)
            if (slot.family == family) count = std::max(count, slot.queue + 1);
        priorities.emplace_back(count, 1.0f);
        VkDeviceQueueCreateInfo request{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
        request.queueFamilyIndex = family;
        request.queueCount = count;
        requests.push_back(request);
    }
    for (std::size_t i = 0; i < requests.size(); ++i) requests[i].pQueuePriorities = priorities[i].data();

    Features features(snapshot_, plan_);
    std::vector<const char*> extensions;
    if (plan_.external_memory_host) extensions.push_back(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
    if (plan_.external_memory_fd) extensions.push_back(VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME);
    if (plan_.shared_timelines_fd) extensions.push_back(VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME);
    if (plan_.memory_budget) extensions.push_back(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
    if (plan_.subgroup_size_extension) extensions.push_back(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
    if (plan_.device_fault) extensions.push_back(VK_EXT_DEVICE_FAULT_EXTENSION_NAME);
    if (snapshot_.cooperative_matrix_khr) extensions.push_back(kKhrCooperativeMatrix);
    if (snapshot_.cooperative_matrix_nv) extensions.push_back(VK_NV_COOPERATIVE_MATRIX_EXTENSION_NAME);
    if (plan_.calibrated_timestamps == CalibratedTimestamps::ext)
        extensions.push_back(VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME);
    if (plan_.calibrated_timestamps == CalibratedTimestamps::khr)
        extensions.push_back(kKhrCalibratedTimestamps);
    VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
    info.pNext = &features.core;
    info.queueCreateInfoCount = static_cast<std::uint32_t>(requests.size());
    info.pQueueCreateInfos = requests.data();
    info.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
    info.ppEnabledExtensionNames = extensions.data();
    core::check(instance_->vk.vkCreateDevice(physical_, &info, nullptr, &handle_), "vkCreateDevice");
    CounterCells::add(counters.objects);
}

void Device::take_queues() {
    for (std::size_t role = 0; role < kQueueRoles; ++role) {
        const QueueSlot slot = plan_.queues.slots[role];
        const auto same =
            std::find_if(queues_.begin(), queues_.end(), [&](const auto& q) { return q->slot == slot; });
        if (same != queues_.end()) {
            roles_[role] = same->get();
            continue;
        }
        auto queue = std::make_unique<PhysicalQueue>();
        queue->slot = slot;
        vk.vkGetDeviceQueue(handle_, slot.family, slot.queue, &queue->handle);
        const auto& locks = adopted_.locks;
        const auto lock =
            std::find_if(locks.begin(), locks.end(), [&](const auto& entry) { return entry.first == slot; });
        queue->mutex = QueueMutex(queue->handle, lock != locks.end() ? lock->second : QueueLockHooks{});
        roles_[role] = queue.get();
        queues_.push_back(std::move(queue));
    }
    if (adopted_.handle == VK_NULL_HANDLE) name_queues();  // an application's queues keep their names
}

void Device::create_layouts() {
    // One set layout serves every program: Vulkan allows bindings that a pipeline does not use to be
    // unwritten. So descriptor sets and recordings survive a change of program.
    std::vector<VkDescriptorSetLayoutBinding> bindings(plan_.storage_buffers);
    for (std::uint32_t i = 0; i < plan_.storage_buffers; ++i)
        bindings[i] = {i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
    VkDescriptorSetLayoutCreateInfo set{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
    set.bindingCount = plan_.storage_buffers;
    set.pBindings = bindings.data();
    check(vk.vkCreateDescriptorSetLayout(handle_, &set, nullptr, &set_layout_),
          "vkCreateDescriptorSetLayout");

    const VkPushConstantRange push{VK_SHADER_STAGE_COMPUTE_BIT, 0, plan_.push_constant_bytes};
    VkPipelineLayoutCreateInfo layout{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    layout.setLayoutCount = 1;
    layout.pSetLayouts = &set_layout_;
    layout.pushConstantRangeCount = 1;
    layout.pPushConstantRanges = &push;
    check(vk.vkCreatePipelineLayout(handle_, &layout, nullptr, &pipeline_layout_), "vkCreatePipelineLayout");
    CounterCells::add(counters.objects, 2);
    set_name(VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT, set_layout_, "weft set layout");
    set_name(VK_OBJECT_TYPE_PIPELINE_LAYOUT, pipeline_layout_, "weft pipeline layout");
}

Device::~Device() {
    if (untouchable()) return;
    vk.vkDestroyPipelineLayout(handle_, pipeline_layout_, nullptr);
    vk.vkDestroyDescriptorSetLayout(handle_, set_layout_, nullptr);
    if (adopted_.handle == VK_NULL_HANDLE) vk.vkDestroyDevice(handle_, nullptr);
}

void Device::check(VkResult result, const char* what) {
    if (result == VK_ERROR_DEVICE_LOST) lose(what);
    core::check(result, what);
}

bool Device::beyond_use() const {
    return !process_.here() || ends_process();
}

void Device::require_usable(const char* what) const {
    if (lost()) {
        const std::lock_guard lock(fault_mutex_);
        throw Error(Errc::device_lost,
                    std::string(what) + ": the device was lost earlier; make a new Backend" +
                        (fault_.empty() ? "" : "; ") + fault_,
                    VK_ERROR_DEVICE_LOST);
    }
    require_own_process(what);
}

void Device::require_own_process(const char* what) const {
    if (ends_process())
        throw Error(Errc::unsupported,
                    std::string(what) + ": the process ends (need calls before exit() or the end of main)");
    if (beyond_use())
        throw Error(Errc::unsupported,
                    std::string(what) + ": the backend belongs to another process (got process " +
                        std::to_string(getpid()) + ", need " + std::to_string(process_.id()) +
                        "; fork before the first Backend, or use exec)");
}

}  // namespace weft::core
