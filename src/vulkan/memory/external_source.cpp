// SPDX-License-Identifier: Apache-2.0
#include "vulkan/memory/external_source.hpp"

namespace weft::core {

MemoryBlock ExportSource::take(std::uint64_t bytes) {
    VkMemoryDedicatedAllocateInfo dedicated{VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO};
    dedicated.buffer = buffer_;
    VkExportMemoryAllocateInfo exported{VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO, &dedicated};
    exported.handleTypes = handle_types();
    VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &exported};
    info.allocationSize = bytes;
    info.memoryTypeIndex = type_;
    MemoryBlock block;
    block.bytes = bytes;
    device_.check(device_.vk.vkAllocateMemory(device_.handle(), &info, nullptr, &block.memory),
                  "vkAllocateMemory");
    CounterCells::add(device_.counters.allocations);
    device_.set_name(VK_OBJECT_TYPE_DEVICE_MEMORY, block.memory, "weft exportable memory");
    return block;
}

void ExportSource::give_back(MemoryBlock& block) noexcept {
    device_.vk.vkFreeMemory(device_.handle(), block.memory, nullptr);
    block = {};
}

}  // namespace weft::core
