// SPDX-License-Identifier: Apache-2.0
// Where blocks of memory come from. The pool cuts blocks; a source makes them. Another source of page-locked
// memory is one more class here and one more line in the plan.
#pragma once

#include <cstdint>
#include <memory>

#include "vulkan/device/device.hpp"

namespace weft::core {

struct MemoryBlock {
    VkDeviceMemory memory = VK_NULL_HANDLE;
    std::uint64_t bytes = 0;
    std::byte* mapped = nullptr;  // whole block, for host-visible types; stays mapped
};

class BlockSource {
  public:
    virtual ~BlockSource() = default;
    /// Errors: out_of_memory.
    virtual MemoryBlock take(std::uint64_t bytes) = 0;
    virtual void give_back(MemoryBlock& block) noexcept = 0;
    /// Index into DeviceSnapshot::memory_types.
    virtual std::uint32_t memory_type() const = 0;
    /// Handle types that buffers bound to this memory must declare; 0 for memory of the driver's own.
    virtual VkExternalMemoryHandleTypeFlags handle_types() const { return 0; }
    virtual const char* name() const = 0;
};

/// vkAllocateMemory of one memory type, mapped once where the host can see it.
std::unique_ptr<BlockSource> make_vulkan_source(Device& device, std::uint32_t memory_type);

}  // namespace weft::core
