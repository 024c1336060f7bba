// SPDX-License-Identifier: Apache-2.0
// Device memory of kernel operators, and copies between it and host memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include <weft/cuda/device.hpp>

#include "cuda/check.hpp"
#include "cuda/scratch.hpp"

namespace weft::cuda {

/// Memory of the current device that lives as long as an operator, which may outlive the stream that filled
/// it, and end while another device is the current one.
class DeviceMemory {
  public:
    DeviceMemory() = default;
    /// Errors: out_of_memory, driver.
    explicit DeviceMemory(std::uint64_t bytes);
    DeviceMemory(DeviceMemory&& other) noexcept : data_(other.data_), device_(other.device_) {
        other.data_ = nullptr;
    }
    DeviceMemory& operator=(DeviceMemory&& other) noexcept;
    ~DeviceMemory();

    std::byte* data() const noexcept { return data_; }

  private:
    std::byte* data_ = nullptr;
    int device_ = 0;
};

inline void copy(StreamHandle stream, void* to, const void* from, std::uint64_t bytes, cudaMemcpyKind kind,
                 const char* function) {
    check(cudaMemcpyAsync(to, from, bytes, kind, stream), function, "cudaMemcpyAsync");
}
inline Scratch uploaded(StreamHandle stream, const void* data, std::uint64_t bytes, const char* function,
                        const char* what) {
    Scratch memory(stream, bytes, function, what);
    copy(stream, memory.data(), data, bytes, cudaMemcpyHostToDevice, function);
    return memory;
}

}  // namespace weft::cuda
