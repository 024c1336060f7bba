// SPDX-License-Identifier: Apache-2.0
#include "cuda/scratch.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "cuda/check.hpp"

namespace weft::cuda {
namespace {

// Each device has one pool until the process ends, which the context of CUDA frees.
cudaMemPool_t pool_of(int device, const char* function) {
    static std::mutex mutex;
    static std::map<int, cudaMemPool_t> pools;
    const std::lock_guard lock(mutex);
    cudaMemPool_t& pool = pools[device];
    if (pool != nullptr) return pool;
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, device};
    cudaMemPool_t made = nullptr;
    check(cudaMemPoolCreate(&made, &properties), function, "cudaMemPoolCreate");
    std::uint64_t keep = UINT64_MAX;
    check(cudaMemPoolSetAttribute(made, cudaMemPoolAttrReleaseThreshold, &keep), function,
          "cudaMemPoolSetAttribute");
    return pool = made;
}

}  // namespace

Scratch::Scratch(StreamHandle stream, std::size_t bytes, const char* function, const char* what)
    : stream_(stream) {
    int device = 0;
    check(cudaGetDevice(&device), function, "cudaGetDevice");
    const std::string call =
        std::string("cudaMallocFromPoolAsync of ") + std::to_string(bytes) + " bytes for " + what;
    check(cudaMallocFromPoolAsync(&data_, bytes == 0 ? 1 : bytes, pool_of(device, function), stream),
          function, call.c_str());
}

Scratch& Scratch::operator=(Scratch&& other) noexcept {
    std::swap(stream_, other.stream_);
    std::swap(data_, other.data_);
    return *this;
}

Scratch::~Scratch() {
    if (data_ != nullptr) static_cast<void>(cudaFreeAsync(data_, stream_));
}

std::uint64_t kept_scratch_bytes(const char* function) {
    int device = 0;
    check(cudaGetDevice(&device), function, "cudaGetDevice");
    const cudaMemPool_t pool = pool_of(device, function);
    std::uint64_t reserved = 0, used = 0;
    check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved), function,
          "cudaMemPoolGetAttribute");
    check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used), function,
          "cudaMemPoolGetAttribute");
    return reserved - std::min(reserved, used);
}

}  // namespace weft::cuda
