// SPDX-License-Identifier: Apache-2.0
// The step that turns the result of cuBLAS' CHERK into a kernel matrix.
#include "bench_race.hpp"

namespace bench {
namespace {

__global__ void square_moduli(const float2* products, float* values, std::size_t count) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
        const float2 z = products[i];
        values[i] = z.x * z.x + z.y * z.y;
    }
}

}  // namespace

void launch_square_moduli(cudaStream_t stream, const void* products, float* values, std::size_t count) {
    square_moduli<<<static_cast<unsigned>((count + 255) / 256), 256, 0, stream>>>(
        static_cast<const float2*>(products), values, count);
    cuda_check(cudaGetLastError());
}

}  // namespace bench
