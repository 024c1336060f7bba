// SPDX-License-Identifier: Apache-2.0
// A CUDA stream for the time of a call.
#pragma once

#include <cuda_runtime_api.h>

#include <weft/cuda/device.hpp>

#include "cuda/check.hpp"

namespace weft::cuda {

/// Its end waits for its work.
class OwnStream {
  public:
    /// Errors: no_device, driver; the user called `function`.
    explicit OwnStream(const char* function) : function_(function) {
        check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), function,
              "cudaStreamCreateWithFlags");
    }
    OwnStream(OwnStream&&) = delete;
    ~OwnStream() {
        static_cast<void>(cudaStreamSynchronize(stream_));
        static_cast<void>(cudaStreamDestroy(stream_));
    }
    operator StreamHandle() const { return stream_; }
    /// Errors: device_lost, driver.
    void wait() const { check(cudaStreamSynchronize(stream_), function_, "cudaStreamSynchronize"); }

  private:
    const char* function_;
    cudaStream_t stream_ = nullptr;
};

}  // namespace weft::cuda
