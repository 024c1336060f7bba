// SPDX-License-Identifier: Apache-2.0
#include "vulkan/memory/block_source.hpp"

#include <optional>

#include "host/cpu_set.hpp"

namespace weft::core {

VkDeviceMemory allocate_memory(Device& device, const VkMemoryAllocateInfo& info, std::string_view name) {
    VkDeviceMemory memory = VK_NULL_HANDLE;
    device.check(device.vk.vkAllocateMemory(device.handle(), &info, nullptr, &memory), "vkAllocateMemory");
    CounterCells::add(device.counters.allocations);
    device.set_name(VK_OBJECT_TYPE_DEVICE_MEMORY, memory, name);
    return memory;
}

void BlockSource::give_back(MemoryBlock& block) noexcept {
    device_.vk.vkFreeMemory(device_.handle(), block.memory, nullptr);
    block = {};
}

void BlockSource::map(MemoryBlock& block) const {
    void* mapped = nullptr;
    const VkResult result =
        device_.vk.vkMapMemory(device_.handle(), block.memory, 0, VK_WHOLE_SIZE, 0, &mapped);
    if (result != VK_SUCCESS) {
        device_.vk.vkFreeMemory(device_.handle(), block.memory, nullptr);
        // Running out of address space to map into is running out of memory to the caller.
        device_.check(result == VK_ERROR_MEMORY_MAP_FAILED ? VK_ERROR_OUT_OF_HOST_MEMORY : result,
                      "vkMapMemory");
    }
    block.mapped = static_cast<std::byte*>(mapped);
}

MemoryBlock DriverSource::take(std::uint64_t bytes) {
    // The kernel gives a thread pages of the node it runs on. A device whose own memory is meant needs none.
    const MemoryTypeSnapshot& type = device_.snapshot().memory_types[type_];
    std::optional<NodeBinding> near_device;
    if (type.host_visible && !type.device_local) near_device.emplace(device_.node_cpus());
    const VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, nullptr, bytes, type_};
    MemoryBlock block{allocate_memory(device_, info, "weft block"), bytes};
    if (type.host_visible) map(block);
    return block;
}

MemoryBlock ExportSource::take(std::uint64_t bytes) {
    VkMemoryDedicatedAllocateInfo dedicated{VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO};
    dedicated.buffer = buffer_;
    const VkExportMemoryAllocateInfo exported{VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO, &dedicated,
                                              handle_types()};
    const VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &exported, bytes, type_};
    return {allocate_memory(device_, info, "weft exportable memory"), bytes};
}

}  // namespace weft::core
