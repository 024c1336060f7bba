// SPDX-License-Identifier: Apache-2.0
// Rows of the race between weft on Vulkan, weft on CUDA and others, on one card in one run.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <weft/cuda/device.hpp>

#include "bench.hpp"

namespace bench {

struct Settings : Options {
    Json* rows = nullptr;  ///< where race() puts its figures
};

/// One way to do a row's work. `run` does it once and returns the seconds that it took by the device's clock,
/// 0 where only the wall's counts; `verify` throws where the result is wrong.
struct Runner {
    std::string name;
    std::function<double()> run;
    std::function<void()> verify;
};

/// Runs all in turns, so that each meets the same pace of the card; prints medians, rates, and the time over
/// the first runner's. `bytes` of a run, or `flops` where they are not 0.
void race(const Settings& settings, const std::string& row, double bytes, double flops,
          const std::vector<Runner>& runners);

inline void cuda_check(cudaError_t result) {
    if (result != cudaSuccess) throw std::runtime_error(cudaGetErrorString(result));
}

/// Host memory page-locked by CUDA.
template <class T>
struct Locked {
    explicit Locked(std::size_t count) : size(count) {
        cuda_check(cudaHostAlloc(reinterpret_cast<void**>(&data), size * sizeof(T), cudaHostAllocDefault));
    }
    Locked(Locked&&) = delete;
    ~Locked() { static_cast<void>(cudaFreeHost(data)); }
    std::span<T> span() const { return {data, size}; }
    T* data = nullptr;
    std::size_t size;
};

/// Device memory of CUDA.
template <class T>
class CudaArray {
  public:
    explicit CudaArray(std::size_t size) : size_(size) {
        cuda_check(cudaMalloc(reinterpret_cast<void**>(&data_), size * sizeof(T)));
    }
    explicit CudaArray(const std::vector<T>& values) : CudaArray(values.size()) {
        cuda_check(cudaMemcpy(data_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
    }
    CudaArray(CudaArray&&) = delete;
    ~CudaArray() { static_cast<void>(cudaFree(data_)); }
    weft::cuda::DeviceSpan<T> span() const { return {data_, size_}; }
    std::vector<T> download() const {
        std::vector<T> values(size_);
        cuda_check(cudaMemcpy(values.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
        return values;
    }

  private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

/// a + b mod p of bls12-381-fp by a loop on the processor.
std::vector<std::uint64_t> add_on_cpu(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b);

void race_copies(weft::Backend& backend, const Settings& settings);
void race_fields(weft::Backend& backend, const Settings& settings);
void race_encoders(weft::Backend& backend, const Settings& settings);
void race_lattices(weft::Backend& backend, const Settings& settings);
void race_products(weft::Backend& backend, const Settings& settings);
void race_gram(weft::Backend& backend, const Settings& settings);
void race_streamed(weft::Backend& backend, const Settings& settings);

/// values[i] = |products[i]|^2 where i is on or above the diagonal of a matrix of `rows`.
void launch_square_moduli(cudaStream_t stream, const void* products, float* values, std::size_t count);

}  // namespace bench
