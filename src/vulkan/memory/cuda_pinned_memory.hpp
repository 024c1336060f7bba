// SPDX-License-Identifier: Apache-2.0
// NVIDIA's CUDA driver library as an allocator of page-locked host memory. Opened at run time; no CUDA
// context is made.
//
// Why: the GPU's L2 cache holds host memory that Vulkan allocates, and there uploads and downloads that run
// simultaneously slow each other down. It does not hold the library's memory, which Vulkan can import.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace weft::core {

/// The library, for one GPU.
class CudaHostMemory {
  public:
    /// Opens the library and finds the GPU. On failure the result is null and `why` says what is missing.
    static std::unique_ptr<CudaHostMemory> open(const std::array<std::uint8_t, 16>& device_uuid,
                                                std::string& why);
    ~CudaHostMemory();
    CudaHostMemory(const CudaHostMemory&) = delete;
    CudaHostMemory& operator=(const CudaHostMemory&) = delete;

    /// Sizes are multiples of this.
    std::uint64_t granularity() const { return granularity_; }
    /// A file descriptor of `bytes` of host memory on the node nearest to the GPU, which the caller owns;
    /// -1 when there is none. The memory lives as long as the descriptor or what it was imported into.
    int allocate(std::uint64_t bytes) const;

  private:
    struct Functions;
    CudaHostMemory();
    bool find_device(const std::array<std::uint8_t, 16>& uuid, std::string& why);

    std::unique_ptr<Functions> functions_;
    int device_ = -1, node_ = -1;
    std::uint64_t granularity_ = 0;
};

}  // namespace weft::core
