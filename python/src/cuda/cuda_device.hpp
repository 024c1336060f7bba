// SPDX-License-Identifier: Apache-2.0
// Devices and streams of CUDA. cuda_memory.cpp implements it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <weft/cuda/device.hpp>

namespace weft::python {

/// Throws unless `result` is cudaSuccess.
void check_cuda(cudaError_t result, const char* call);

/// The stream that a number of DLPack names. Errors: InvalidArgument.
cuda::StreamHandle stream_handle(std::intptr_t number);

/// Makes a device the calling thread's current one during its lifetime.
class CurrentDevice {
  public:
    explicit CurrentDevice(int ordinal);
    ~CurrentDevice();
    CurrentDevice(const CurrentDevice&) = delete;
    CurrentDevice& operator=(const CurrentDevice&) = delete;

  private:
    int before_ = 0;
    bool changed_ = false;
};

}  // namespace weft::python
