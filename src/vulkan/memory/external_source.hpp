// SPDX-License-Identifier: Apache-2.0
// Memory of one buffer alone, made to be given out as a file descriptor.
#pragma once

#include "vulkan/memory/pinned_allocator.hpp"

namespace weft::core {

/// One for each buffer, since a dedicated allocation names its buffer.
class ExportSource final : public BlockSource {
  public:
    ExportSource(Device& device, std::uint32_t memory_type, VkBuffer buffer)
        : device_(device), type_(memory_type), buffer_(buffer) {}

    MemoryBlock take(std::uint64_t bytes) override;
    void give_back(MemoryBlock& block) noexcept override;
    std::uint32_t memory_type() const override { return type_; }
    VkExternalMemoryHandleTypeFlags handle_types() const override {
        return VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    }
    const char* name() const override { return "vulkan"; }

  private:
    Device& device_;
    std::uint32_t type_;
    VkBuffer buffer_;
};

}  // namespace weft::core
