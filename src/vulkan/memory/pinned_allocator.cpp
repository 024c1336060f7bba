// SPDX-License-Identifier: Apache-2.0
#include "vulkan/memory/pinned_allocator.hpp"

namespace weft::core {
namespace {

class VulkanSource final : public BlockSource {
  public:
    VulkanSource(Device& device, std::uint32_t memory_type) : device_(device), type_(memory_type) {}

    MemoryBlock take(std::uint64_t bytes) override {
        VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
        info.allocationSize = bytes;
        info.memoryTypeIndex = type_;
        MemoryBlock block;
        block.bytes = bytes;
        device_.check(device_.vk.vkAllocateMemory(device_.handle(), &info, nullptr, &block.memory),
                      "vkAllocateMemory");
        CounterCells::add(device_.counters.allocations);
        device_.set_name(VK_OBJECT_TYPE_DEVICE_MEMORY, block.memory, "weft block");
        if (!device_.snapshot().memory_types[type_].host_visible) return block;
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
        return block;
    }

    void give_back(MemoryBlock& block) noexcept override {
        device_.vk.vkFreeMemory(device_.handle(), block.memory, nullptr);
        block = {};
    }

    std::uint32_t memory_type() const override { return type_; }
    const char* name() const override { return "vulkan"; }

  private:
    Device& device_;
    std::uint32_t type_;
};

}  // namespace

std::unique_ptr<BlockSource> make_vulkan_source(Device& device, std::uint32_t memory_type) {
    return std::make_unique<VulkanSource>(device, memory_type);
}

}  // namespace weft::core
