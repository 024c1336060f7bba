// SPDX-License-Identifier: Apache-2.0
// What the encode kernels have in common. Like the shaders, it is compiled for values and arithmetic of 32
// and 64 bits (WEFT_IN64, WEFT_REAL64).
#pragma once

#include <cuda_runtime.h>

#include <algorithm>

#include "ops_cuda/encode/encode_launch.hpp"

#if defined(WEFT_REAL64)
#define WEFT_FLOAT64
#endif
#include "shaders/encode/circuit/encode_trig.h"
#include "shaders/encode/encode_parameters.h"

#if defined(WEFT_IN64)
#define Raw uvec2
#define RawPair uvec4
#else
#define Raw uint
#define RawPair uvec2
#endif

namespace weft::cuda {
namespace {

using namespace shared;

// `blocks`: the least that share a multiprocessor, which limits the registers of each. Bodies may write to
// members, so `kernel` is no grid constant: nvcc 13 drops changes of copies of these.
template <class Kernel, unsigned threads, unsigned blocks>
__global__ void __launch_bounds__(threads, blocks) encode_kernel(Kernel kernel) {
    kernel.run();
}

template <unsigned threads, unsigned blocks = 1, class Kernel>
int launch_kernel(const Kernel& kernel, std::uint64_t workgroups, const EncodeLaunch& l) {
    encode_kernel<Kernel, threads, blocks>
        <<<static_cast<unsigned>(std::min<std::uint64_t>(workgroups, 0x7fffffff)), threads, 0, l.stream>>>(
            kernel);
    return cudaGetLastError();
}

// With the buffers that the kernel has, other than those of norms.
template <class Kernel>
Kernel make_kernel(const EncodeLaunch& l) {
    Kernel kernel{};
    kernel.count = l.count;
    kernel.first = 0;
    kernel.p = l.p;
    if constexpr (requires { kernel.values; }) kernel.values = static_cast<decltype(kernel.values)>(l.values);
    if constexpr (requires { kernel.value_pairs; })
        kernel.value_pairs = static_cast<decltype(kernel.value_pairs)>(l.values);
    if constexpr (requires { kernel.states; }) kernel.states = l.states;
    if constexpr (requires { kernel.status; }) kernel.status = l.status;
    if constexpr (requires { kernel.tasks; }) kernel.tasks = l.tasks;
    return kernel;
}

inline std::uint64_t workgroups_of(std::uint64_t count, std::uint64_t per_workgroup) {
    return (count + per_workgroup - 1) / per_workgroup;
}

// Calls body with a constant: whether amplitudes are complex128, which only double arithmetic makes.
template <class Body>
int with_width([[maybe_unused]] const EncodeLaunch& l, const Body& body) {
#if defined(WEFT_REAL64)
    if (l.shape.wide_states) return body(std::true_type{});
#if !defined(WEFT_IN64)
    return cudaErrorInvalidValue;  // complex64 states of float values are made in float
#endif
#endif
    return body(std::false_type{});
}

}  // namespace
}  // namespace weft::cuda

// Push constants and spec constants of all encode kernels.
#define ENCODE_MEMBERS(threads)                         \
    static constexpr bool kStoreWide = wide;            \
    static constexpr unsigned kWorkgroupSize = threads; \
    uint count, first;                                  \
    EncodeParameters p
