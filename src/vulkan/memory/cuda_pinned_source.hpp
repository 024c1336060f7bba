// SPDX-License-Identifier: Apache-2.0
// Blocks of host memory that the CUDA driver library allocates and Vulkan imports.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "vulkan/memory/cuda_pinned_memory.hpp"
#include "vulkan/memory/pinned_allocator.hpp"

namespace weft::core {

class CudaHostSource final : public BlockSource {
  public:
    CudaHostSource(Device& device, std::uint32_t memory_type) : device_(device), type_(memory_type) {}

    /// Whether the library is there and a block went to the device and back unharmed. The first call finds
    /// out, which takes a tenth of a second, so do not call it unless a large block is needed. May be
    /// called from any thread.
    bool ready();
    /// What is missing; empty: nothing, or not yet asked.
    std::string why() const;

    MemoryBlock take(std::uint64_t bytes) override;
    void give_back(MemoryBlock& block) noexcept override;
    std::uint32_t memory_type() const override { return type_; }
    VkExternalMemoryHandleTypeFlags handle_types() const override {
        return VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    }
    const char* name() const override { return "cuda"; }

  private:
    void prepare() noexcept;

    Device& device_;
    std::uint32_t type_;
    std::unique_ptr<CudaHostMemory> memory_;
    mutable std::mutex mutex_;
    bool asked_ = false, usable_ = false;
    std::string why_;
};

}  // namespace weft::core
