// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels.hpp"

namespace weft_test {
namespace {

__global__ void affine(const std::uint32_t* x, std::uint32_t* y, std::size_t count, std::uint32_t factor,
                       std::uint32_t offset) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
        y[i] = x[i] * factor + offset;
}

__global__ void spin(std::uint64_t nanoseconds) {
    std::uint64_t begin = 0, now = 0;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
    do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    while (now - begin < nanoseconds);
}

__global__ void trap() {
    asm volatile("trap;");
}

}  // namespace

void cuda_affine(weft::cuda::DeviceSpan<const std::uint32_t> x, weft::cuda::DeviceSpan<std::uint32_t> y,
                 std::uint32_t factor, std::uint32_t offset, weft::cuda::StreamHandle stream) {
    affine<<<256, 256, 0, stream>>>(x.data(), y.data(), y.size(), factor, offset);
}

void cuda_spin(std::uint64_t nanoseconds, weft::cuda::StreamHandle stream) {
    spin<<<4, 32, 0, stream>>>(nanoseconds);
}

void cuda_trap(weft::cuda::StreamHandle stream) {
    trap<<<1, 1, 0, stream>>>();
}

}  // namespace weft_test
