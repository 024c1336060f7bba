// SPDX-License-Identifier: Apache-2.0
// A pass of a Walsh-Hadamard transform in place. It transforms kBits bits of the index from bit `low` on,
// where the index counts units of 16 bytes.
#include <cuda_runtime.h>

#include <algorithm>

#include "ops_cuda/encode/encode_launch.hpp"

namespace weft::cuda {
namespace {

constexpr unsigned kThreads = 256;

__device__ float4 operator+(float4 a, float4 b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}
__device__ float4 operator-(float4 a, float4 b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w};
}
__device__ double2 operator+(double2 a, double2 b) {
    return {a.x + b.x, a.y + b.y};
}
__device__ double2 operator-(double2 a, double2 b) {
    return {a.x - b.x, a.y - b.y};
}

template <class Unit, unsigned kBits>
__global__ void __launch_bounds__(kThreads) encode_wht(Unit* states, std::uint64_t count, unsigned low) {
    const std::uint64_t step = std::uint64_t{gridDim.x} * kThreads, below = (std::uint64_t{1} << low) - 1;
    for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += step) {
        Unit* at = states + ((i & below) | ((i >> low) << (low + kBits)));
        Unit v[1 << kBits];
#pragma unroll
        for (unsigned k = 0; k < 1 << kBits; ++k) v[k] = at[std::uint64_t{k} << low];
#pragma unroll
        for (unsigned bit = 0; bit < kBits; ++bit)
#pragma unroll
            for (unsigned k = 0; k < 1 << kBits; ++k) {
                const unsigned other = k | (1 << bit);
                if (other == k) continue;
                const Unit a = v[k], b = v[other];
                v[k] = a + b;
                v[other] = a - b;
            }
#pragma unroll
        for (unsigned k = 0; k < 1 << kBits; ++k) at[std::uint64_t{k} << low] = v[k];
    }
}

template <class Unit, unsigned kBits>
int launch(StreamHandle stream, void* states, std::uint64_t units, unsigned low) {
    const std::uint64_t count = units >> kBits, workgroups = (count + kThreads - 1) / kThreads;
    encode_wht<Unit, kBits>
        <<<static_cast<unsigned>(std::min<std::uint64_t>(workgroups, 0x7fffffff)), kThreads, 0, stream>>>(
            static_cast<Unit*>(states), count, low);
    return cudaGetLastError();
}

template <class Unit>
int launch_bits(StreamHandle stream, void* states, std::uint64_t units, unsigned low, unsigned bits) {
    switch (bits) {
        case 1:
            return launch<Unit, 1>(stream, states, units, low);
        case 2:
            return launch<Unit, 2>(stream, states, units, low);
        case 3:
            return launch<Unit, 3>(stream, states, units, low);
        default:
            return launch<Unit, 4>(stream, states, units, low);
    }
}

}  // namespace

int launch_wht(StreamHandle stream, bool wide, void* states, std::uint64_t units, std::uint32_t low,
               std::uint32_t bits) {
    return wide ? launch_bits<double2>(stream, states, units, low, bits)
                : launch_bits<float4>(stream, states, units, low, bits);
}

}  // namespace weft::cuda
