// SPDX-License-Identifier: Apache-2.0
// Support for tests with CUDA: checked calls, streams, a stream that can be stopped, memory from cuMemCreate.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include <weft/cuda/interop.hpp>
#include <weft/weft.hpp>

#include "cuda/kernels.hpp"
#include "support/gpu_fixture.hpp"
#include "support/open_descriptors.hpp"
#include "support/shader_jobs.hpp"

namespace weft_test {

inline void need(cudaError_t result) {
    REQUIRE_MESSAGE(result == cudaSuccess, cudaGetErrorString(result));
}

class CudaStream {
  public:
    CudaStream() { need(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
    ~CudaStream() { cudaStreamDestroy(stream_); }
    CudaStream(const CudaStream&) = delete;
    CudaStream& operator=(const CudaStream&) = delete;
    operator cudaStream_t() const { return stream_; }

  private:
    cudaStream_t stream_ = nullptr;
};

/// Stops a CUDA stream at its position until it is released: signals after it are not given. It releases
/// itself after some time, so that a test that waits for later work fails instead of hanging.
class Hold {
  public:
    explicit Hold(cudaStream_t stream) {
        need(cudaLaunchHostFunc(
            stream,
            [](void* hold) {
                for (auto left = kMost; left > left.zero() && !static_cast<Hold*>(hold)->open_; left -= kStep)
                    std::this_thread::sleep_for(kStep);
                static_cast<Hold*>(hold)->passed_ = true;
            },
            this));
    }
    ~Hold() {
        let_go();
        while (!passed_) std::this_thread::sleep_for(kStep);
    }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    void let_go() { open_ = true; }

  private:
    static constexpr std::chrono::microseconds kStep{100}, kMost{20'000'000};
    std::atomic<bool> open_{false}, passed_{false};
};

/// Mapped device memory from cuMemCreate: `parts` contiguous allocations of `bytes` each.
class VirtualMemory {
  public:
    explicit VirtualMemory(std::size_t bytes, bool exportable = true, std::size_t parts = 1) {
        CUmemAllocationProp p{};
        p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        need(cudaGetDevice(&p.location.id));
        if (exportable) p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        std::size_t step = 0;
        need(function<decltype(&::cuMemGetAllocationGranularity)>("cuMemGetAllocationGranularity")(
            &step, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
        part_bytes_ = (bytes + step - 1) / step * step;
        bytes_ = part_bytes_ * parts;
        need(function<decltype(&::cuMemAddressReserve)>("cuMemAddressReserve")(&address_, bytes_, 0, 0, 0));
        for (std::size_t i = 0; i < parts; ++i) {
            need(function<decltype(&::cuMemCreate)>("cuMemCreate")(&handles_.emplace_back(), part_bytes_, &p,
                                                                   0));
            need(function<decltype(&::cuMemMap)>("cuMemMap")(address_ + i * part_bytes_, part_bytes_, 0,
                                                             handles_.back(), 0));
        }
        const CUmemAccessDesc access{p.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
        need(function<decltype(&::cuMemSetAccess)>("cuMemSetAccess")(address_, bytes_, &access, 1));
    }
    ~VirtualMemory() {
        function<decltype(&::cuMemUnmap)>("cuMemUnmap")(address_, bytes_);
        function<decltype(&::cuMemAddressFree)>("cuMemAddressFree")(address_, bytes_);
        for (const CUmemGenericAllocationHandle handle : handles_)
            function<decltype(&::cuMemRelease)>("cuMemRelease")(handle);
    }
    VirtualMemory(const VirtualMemory&) = delete;
    VirtualMemory& operator=(const VirtualMemory&) = delete;

    template <class T>
    weft::cuda::DeviceSpan<T> span() const {
        return {reinterpret_cast<T*>(address_), bytes_ / sizeof(T)};
    }
    std::size_t bytes() const { return bytes_; }
    int export_fd() const {
        int fd = -1;
        need(function<decltype(&::cuMemExportToShareableHandle)>("cuMemExportToShareableHandle")(
            &fd, handles_.front(), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
        return fd;
    }

  private:
    template <class Function>
    static Function function(const char* name) {
        void* found = nullptr;
        cudaDriverEntryPointQueryResult status{};
        need(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &status));
        return reinterpret_cast<Function>(found);
    }
    static void need(CUresult result) { REQUIRE_MESSAGE(result == CUDA_SUCCESS, static_cast<int>(result)); }
    static void need(cudaError_t result) { weft_test::need(result); }

    std::vector<CUmemGenericAllocationHandle> handles_;
    CUdeviceptr address_ = 0;
    std::size_t bytes_ = 0, part_bytes_ = 0;
};

/// CUDA loads a kernel at its first launch and may then wait for all streams, which would never end while a
/// stream is stopped.
inline void load_cuda_kernels() {
    cuda_affine({}, {}, 0, 0, nullptr);
    cuda_spin(0, nullptr);
    need(cudaDeviceSynchronize());
}

/// Runs a test with a Backend on an NVIDIA GPU and its CUDA device, and checks that no object of weft is
/// left.
template <class Body>
void on_cuda(Body&& body) {
    on_device([&](weft::Backend& backend) {
        const weft::cuda::Device device(backend);
        need(cudaSetDevice(device.ordinal()));
        load_cuda_kernels();
        body(backend, device);
        need(cudaDeviceSynchronize());
    });
}

inline std::vector<std::uint32_t> from_cuda(weft::cuda::DeviceSpan<const std::uint32_t> span) {
    std::vector<std::uint32_t> host(span.size());
    need(cudaMemcpy(host.data(), span.data(), span.bytes(), cudaMemcpyDefault));
    return host;
}

}  // namespace weft_test
