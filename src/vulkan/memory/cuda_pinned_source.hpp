// SPDX-License-Identifier: Apache-2.0
// Blocks of host memory that the CUDA driver library allocates and Vulkan imports.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "vulkan/memory/block_source.hpp"
#include "vulkan/memory/cuda_pinned_memory.hpp"

namespace weft::core {

class CudaHostSource final : public BlockSource {
  public:
    using BlockSource::BlockSource;

    /// Whether the library is there and a block was copied to the device and back without damage. The first
    /// call tries this, which takes a tenth of a second, so call it only if a large block is needed. May be
    /// called from any thread.
    bool ready();
    /// What is missing; empty: nothing is, or ready() was not called yet.
    std::string why() const;

    MemoryBlock take(std::uint64_t bytes) override;
    VkExternalMemoryHandleTypeFlags handle_types() const override {
        return VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    }
    const char* name() const override { return "cuda"; }

  private:
    void prepare() noexcept;

    std::unique_ptr<CudaHostMemory> memory_;
    mutable std::mutex mutex_;
    bool asked_ = false, usable_ = false;
    std::string why_;
};

}  // namespace weft::core
