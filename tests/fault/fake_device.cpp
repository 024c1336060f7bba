// SPDX-License-Identifier: Apache-2.0
// Hooks that describe the device as another one.
#include <algorithm>
#include <cstring>

#include "fault/fake_driver.hpp"

namespace weft_fault {
namespace {

const FakeDriver& fake() {
    return State::get().fake();
}

void change(VkPhysicalDeviceProperties& p) {
    const FakeDriver& l = fake();
    if (l.discrete) p.deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    if (l.vendor != 0) p.vendorID = l.vendor;
    if (l.driver_version != 0) p.driverVersion = l.driver_version;
    if (l.cache_uuid) std::copy(l.cache_uuid->begin(), l.cache_uuid->end(), p.pipelineCacheUUID);
    if (l.non_coherent_atom != 0) p.limits.nonCoherentAtomSize = l.non_coherent_atom;
    if (l.max_workgroup_count_x != 0) p.limits.maxComputeWorkGroupCount[0] = l.max_workgroup_count_x;
    if (l.max_storage_range != 0) p.limits.maxStorageBufferRange = l.max_storage_range;
}

void change_in_chain(VkBaseOutStructure* s) {
    const FakeDriver& l = fake();
    if (l.max_allocation != 0 && s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES)
        reinterpret_cast<VkPhysicalDeviceMaintenance3Properties*>(s)->maxMemoryAllocationSize =
            l.max_allocation;
    if (l.max_allocation != 0 && s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES)
        reinterpret_cast<VkPhysicalDeviceVulkan11Properties*>(s)->maxMemoryAllocationSize = l.max_allocation;
    if (l.max_buffer != 0 && s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES)
        reinterpret_cast<VkPhysicalDeviceMaintenance4Properties*>(s)->maxBufferSize = l.max_buffer;
    if (l.max_buffer != 0 && s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES)
        reinterpret_cast<VkPhysicalDeviceVulkan13Properties*>(s)->maxBufferSize = l.max_buffer;
}

void hide_in_chain(VkBaseOutStructure* s) {
    const FakeDriver& l = fake();
    if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES && l.hide_timeline)
        reinterpret_cast<VkPhysicalDeviceVulkan12Features*>(s)->timelineSemaphore = VK_FALSE;
    if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES && l.hide_timeline)
        reinterpret_cast<VkPhysicalDeviceTimelineSemaphoreFeatures*>(s)->timelineSemaphore = VK_FALSE;
    if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES && l.hide_synchronization2)
        reinterpret_cast<VkPhysicalDeviceVulkan13Features*>(s)->synchronization2 = VK_FALSE;
}

void change(VkPhysicalDeviceMemoryProperties& p) {
    const FakeDriver& l = fake();
    for (std::size_t i = 0; i < l.heaps.size(); ++i) {
        p.memoryHeaps[i] = {l.heaps[i].bytes,
                            l.heaps[i].device_local ? VkMemoryHeapFlags{VK_MEMORY_HEAP_DEVICE_LOCAL_BIT} : 0};
        p.memoryHeapCount = static_cast<std::uint32_t>(l.heaps.size());
    }
    for (std::size_t i = 0; i < l.types.size(); ++i) {
        const TypeLie& t = l.types[i];
        VkMemoryPropertyFlags flags = 0;
        if (t.device_local) flags |= VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
        if (t.host_visible) flags |= VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
        if (t.host_coherent) flags |= VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
        if (t.host_cached) flags |= VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
        p.memoryTypes[i] = {flags, t.heap};
        p.memoryTypeCount = static_cast<std::uint32_t>(l.types.size());
    }
}

VkQueueFamilyProperties properties_of(const FamilyLie& f) {
    VkQueueFamilyProperties p{};
    p.queueCount = f.queues;
    p.timestampValidBits = f.timestamp_bits;
    p.minImageTransferGranularity = {1, 1, 1};
    if (f.graphics) p.queueFlags |= VK_QUEUE_GRAPHICS_BIT;
    if (f.compute) p.queueFlags |= VK_QUEUE_COMPUTE_BIT;
    if (f.transfer) p.queueFlags |= VK_QUEUE_TRANSFER_BIT;
    return p;
}

/// The two-call form of Vulkan's lists.
template <class T>
VkResult give(const std::vector<T>& all, std::uint32_t* count, T* out) {
    const auto size = static_cast<std::uint32_t>(all.size());
    if (out == nullptr) {
        *count = size;
        return VK_SUCCESS;
    }
    const std::uint32_t given = std::min(*count, size);
    std::copy_n(all.begin(), given, out);
    *count = given;
    return given < size ? VK_INCOMPLETE : VK_SUCCESS;
}

bool named(const VkExtensionProperties& e, const char* name) {
    return std::strcmp(e.extensionName, name) == 0;
}

std::vector<VkExtensionProperties> real_extensions(VkPhysicalDevice device) {
    const auto list = real<Id::vkEnumerateDeviceExtensionProperties>();
    std::uint32_t count = 0;
    list(device, nullptr, &count, nullptr);
    std::vector<VkExtensionProperties> all(count);
    list(device, nullptr, &count, all.data());
    return all;
}

/// Features that were hidden must not be enabled.
void check_features(const VkDeviceCreateInfo& info) {
    const FakeDriver& l = fake();
    State& state = State::get();
    if (info.pEnabledFeatures != nullptr && l.hide_int64 && info.pEnabledFeatures->shaderInt64)
        state.violation("vkCreateDevice: shaderInt64 is not available");
    for_each_in_chain(const_cast<void*>(info.pNext), [&](VkBaseOutStructure* s) {
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2 && l.hide_int64 &&
            reinterpret_cast<VkPhysicalDeviceFeatures2*>(s)->features.shaderInt64)
            state.violation("vkCreateDevice: shaderInt64 is not available");
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES && l.hide_synchronization2 &&
            reinterpret_cast<VkPhysicalDeviceVulkan13Features*>(s)->synchronization2)
            state.violation("vkCreateDevice: synchronization2 is not available");
    });
}

void check_queues(const VkDeviceCreateInfo& info) {
    const FakeDriver& l = fake();
    for (std::uint32_t i = 0; i < info.queueCreateInfoCount; ++i) {
        const VkDeviceQueueCreateInfo& q = info.pQueueCreateInfos[i];
        if (q.queueFamilyIndex >= l.families.size() || q.queueCount > l.families[q.queueFamilyIndex].queues)
            State::get().violation("vkCreateDevice: more queues than family " +
                                   std::to_string(q.queueFamilyIndex) + " has");
        for (std::uint32_t k = 0; k < i; ++k)
            if (info.pQueueCreateInfos[k].queueFamilyIndex == q.queueFamilyIndex)
                State::get().violation("vkCreateDevice: a family is listed twice");
    }
}

}  // namespace

VkResult act(Tag<Id::vkEnumerateDeviceExtensionProperties>, VkPhysicalDevice device, const char* layer,
             std::uint32_t* count, VkExtensionProperties* out) {
    if (layer != nullptr) return real<Id::vkEnumerateDeviceExtensionProperties>()(device, layer, count, out);
    std::vector<VkExtensionProperties> all = real_extensions(device);
    std::erase_if(all, [&](const auto& e) {
        return (fake().hide_import && named(e, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME)) ||
               (fake().show_budget && named(e, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME));
    });
    if (fake().show_budget) {
        VkExtensionProperties budget{};
        std::strcpy(budget.extensionName, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
        budget.specVersion = 1;
        all.push_back(budget);
    }
    return give(all, count, out);
}

void act(Tag<Id::vkGetPhysicalDeviceProperties>, VkPhysicalDevice device, VkPhysicalDeviceProperties* out) {
    real<Id::vkGetPhysicalDeviceProperties>()(device, out);
    change(*out);
}

void act(Tag<Id::vkGetPhysicalDeviceProperties2>, VkPhysicalDevice device, VkPhysicalDeviceProperties2* out) {
    real<Id::vkGetPhysicalDeviceProperties2>()(device, out);
    change(out->properties);
    for_each_in_chain(out->pNext, change_in_chain);
}

void act(Tag<Id::vkGetPhysicalDeviceFeatures2>, VkPhysicalDevice device, VkPhysicalDeviceFeatures2* out) {
    real<Id::vkGetPhysicalDeviceFeatures2>()(device, out);
    if (fake().hide_int64) out->features.shaderInt64 = VK_FALSE;
    for_each_in_chain(out->pNext, hide_in_chain);
}

void act(Tag<Id::vkGetPhysicalDeviceMemoryProperties>, VkPhysicalDevice device,
         VkPhysicalDeviceMemoryProperties* out) {
    real<Id::vkGetPhysicalDeviceMemoryProperties>()(device, out);
    change(*out);
}

void act(Tag<Id::vkGetPhysicalDeviceMemoryProperties2>, VkPhysicalDevice device,
         VkPhysicalDeviceMemoryProperties2* out) {
    real<Id::vkGetPhysicalDeviceMemoryProperties2>()(device, out);
    change(out->memoryProperties);
    if (!fake().show_budget) return;
    for_each_in_chain(out->pNext, [&](VkBaseOutStructure* s) {
        if (s->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT) return;
        auto& budget = *reinterpret_cast<VkPhysicalDeviceMemoryBudgetPropertiesEXT*>(s);
        for (std::uint32_t i = 0; i < out->memoryProperties.memoryHeapCount; ++i) {
            const std::uint64_t told = i < fake().heaps.size() ? fake().heaps[i].budget : 0;
            budget.heapBudget[i] = told != 0 ? told : out->memoryProperties.memoryHeaps[i].size;
            budget.heapUsage[i] = used_of_heap(i);
        }
    });
}

void act(Tag<Id::vkGetPhysicalDeviceQueueFamilyProperties>, VkPhysicalDevice device, std::uint32_t* count,
         VkQueueFamilyProperties* out) {
    if (fake().families.empty())
        return real<Id::vkGetPhysicalDeviceQueueFamilyProperties>()(device, count, out);
    std::vector<VkQueueFamilyProperties> all;
    for (const FamilyLie& f : fake().families) all.push_back(properties_of(f));
    give(all, count, out);
}

void act(Tag<Id::vkGetPhysicalDeviceQueueFamilyProperties2>, VkPhysicalDevice device, std::uint32_t* count,
         VkQueueFamilyProperties2* out) {
    if (fake().families.empty())
        return real<Id::vkGetPhysicalDeviceQueueFamilyProperties2>()(device, count, out);
    const auto size = static_cast<std::uint32_t>(fake().families.size());
    *count = out == nullptr ? size : std::min(*count, size);
    for (std::uint32_t i = 0; out != nullptr && i < *count; ++i)
        out[i].queueFamilyProperties = properties_of(fake().families[i]);
}

VkResult act(Tag<Id::vkCreateDevice>, VkPhysicalDevice device, const VkDeviceCreateInfo* wanted,
             const VkAllocationCallbacks* allocator, VkDevice* out) {
    VkDeviceCreateInfo info = *wanted;
    check_features(info);
    const float priority = 1;
    VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, nullptr, 0, 0, 1, &priority};
    if (!fake().families.empty()) {
        check_queues(info);
        info.queueCreateInfoCount = 1;
        info.pQueueCreateInfos = &queue;
    }
    std::vector<const char*> extensions(info.ppEnabledExtensionNames,
                                        info.ppEnabledExtensionNames + info.enabledExtensionCount);
    std::erase_if(extensions, [&](const char* name) {
        if (fake().hide_import && std::strcmp(name, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME) == 0)
            State::get().violation("vkCreateDevice: external memory of the host is not available");
        return fake().show_budget && std::strcmp(name, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME) == 0;
    });
    info.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
    info.ppEnabledExtensionNames = extensions.data();
    return real<Id::vkCreateDevice>()(device, &info, allocator, out);
}

}  // namespace weft_fault
