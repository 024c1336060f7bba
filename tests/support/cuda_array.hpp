// SPDX-License-Identifier: Apache-2.0
// CUDA device memory and streams for tests.
#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <weft/cuda/device.hpp>

namespace weft_test {

inline void cuda_check(cudaError_t result) {
    if (result != cudaSuccess) throw std::runtime_error(cudaGetErrorString(result));
}

/// Owns `size` elements of device memory.
template <class T>
class CudaArray {
  public:
    explicit CudaArray(std::size_t size) : size_(size) {
        cuda_check(cudaMalloc(reinterpret_cast<void**>(&data_), (size == 0 ? 1 : size) * sizeof(T)));
    }
    explicit CudaArray(const std::vector<T>& values) : CudaArray(values.size()) {
        cuda_check(cudaMemcpy(data_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
        // A small copy from ordinary memory may still be under way, and the streams below do not wait for it.
        cuda_check(cudaDeviceSynchronize());
    }
    CudaArray(CudaArray&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}
    CudaArray& operator=(CudaArray&&) = delete;
    ~CudaArray() { static_cast<void>(cudaFree(data_)); }

    weft::cuda::DeviceSpan<T> span() const { return {data_, size_}; }
    weft::cuda::DeviceSpan<T> span(std::size_t first, std::size_t count) const {
        return {data_ + first, count};
    }
    std::vector<T> download() const {
        std::vector<T> values(size_);
        cuda_check(cudaMemcpy(values.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
        return values;
    }

  private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

class CudaStream {
  public:
    CudaStream() { cuda_check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
    CudaStream(CudaStream&&) = delete;
    ~CudaStream() { static_cast<void>(cudaStreamDestroy(stream_)); }
    operator weft::cuda::StreamHandle() const { return stream_; }
    void wait() const { cuda_check(cudaStreamSynchronize(stream_)); }

  private:
    cudaStream_t stream_ = nullptr;
};

}  // namespace weft_test
