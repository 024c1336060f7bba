// SPDX-License-Identifier: Apache-2.0
// Sources of memory blocks: a source makes blocks, and the pool cuts them. Another source of page-locked
// memory is one more class here and one more line in the plan.
#pragma once

#include <cstdint>
#include <string_view>

#include "vulkan/device/device.hpp"

namespace weft::core {

struct MemoryBlock {
    VkDeviceMemory memory = VK_NULL_HANDLE;
    std::uint64_t bytes = 0;
    std::byte* mapped = nullptr;  // whole block, for host-visible types; stays mapped
};

/// Allocates, counts and names. Errors: out_of_memory, driver.
VkDeviceMemory allocate_memory(Device& device, const VkMemoryAllocateInfo& info, std::string_view name);

class BlockSource {
  public:
    /// `memory_type`: index into DeviceSnapshot::memory_types.
    BlockSource(Device& device, std::uint32_t memory_type) : device_(device), type_(memory_type) {}
    virtual ~BlockSource() = default;
    BlockSource(const BlockSource&) = delete;
    BlockSource& operator=(const BlockSource&) = delete;

    /// Errors: out_of_memory.
    virtual MemoryBlock take(std::uint64_t bytes) = 0;
    void give_back(MemoryBlock& block) noexcept;
    std::uint32_t memory_type() const { return type_; }
    /// Handle types that buffers bound to this memory must declare; 0 for memory of the driver's own.
    virtual VkExternalMemoryHandleTypeFlags handle_types() const { return 0; }
    virtual const char* name() const { return "vulkan"; }

  protected:
    /// Maps the whole block, or frees it and throws out_of_memory.
    void map(MemoryBlock& block) const;

    Device& device_;
    const std::uint32_t type_;
};

/// vkAllocateMemory of one memory type, mapped once where the host can see it.
class DriverSource final : public BlockSource {
  public:
    using BlockSource::BlockSource;
    MemoryBlock take(std::uint64_t bytes) override;
};

/// Memory of one buffer alone, made to be given out as a file descriptor. There is one for each buffer, since
/// a dedicated allocation names its buffer.
class ExportSource final : public BlockSource {
  public:
    ExportSource(Device& device, std::uint32_t memory_type, VkBuffer buffer)
        : BlockSource(device, memory_type), buffer_(buffer) {}
    MemoryBlock take(std::uint64_t bytes) override;
    VkExternalMemoryHandleTypeFlags handle_types() const override {
        return VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    }

  private:
    VkBuffer buffer_;
};

}  // namespace weft::core
