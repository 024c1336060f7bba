// SPDX-License-Identifier: Apache-2.0
// What the kernels of kernel matrices have in common, in float or (WEFT_REAL64) in double. NAME(x) is the
// function that launches x.
#include <cuda_runtime.h>

#include <algorithm>
#include <type_traits>

#include "cuda/vectors.cuh"
#include "ops_cuda/kernel_matrix/kernel_launch.hpp"

#if defined(WEFT_REAL64)
#define WEFT_FLOAT64
#define Real double
#define Real2 dvec2
#define Real4 dvec4
#else
#define Real float
#define Real2 vec2
#define Real4 vec4_by_number
#endif
#define WEFT_IN64
#include "shaders/encode/circuit/encode_trig.h"
#include "shaders/encode/encode_parameters.h"
#include "shaders/kernel_matrix/kernel_angle.h"
#include "shaders/kernel_matrix/kernel_parameters.h"
#include "shaders/kernel_matrix/kernel_ring.h"

namespace weft::cuda {
namespace {

using namespace shared;

constexpr unsigned kThreads = 128;

// kStoreWide is a constant that encode_interface.glsl.h requires; no amplitude is stored here.
#define KERNEL_MEMBERS(Parameters)                       \
    static constexpr bool kStoreWide = false;            \
    static constexpr unsigned kWorkgroupSize = kThreads; \
    uint count, first;                                   \
    Parameters p

// Bodies write to members, so `kernel` is no grid constant: nvcc 13 drops changes of copies of these.
template <class Kernel, unsigned threads>
__global__ void __launch_bounds__(threads) kernel_kernel(Kernel kernel) {
    kernel.run();
}

template <unsigned threads, class Kernel, class Launch>
int launch_kernel(Kernel& kernel, std::uint64_t workgroups, const Launch& l) {
    kernel.count = l.count;
    kernel.first = 0;
    kernel.p = l.p;
    kernel_kernel<Kernel, threads>
        <<<static_cast<unsigned>(std::min<std::uint64_t>(workgroups, 0x7fffffff)), threads, 0, l.stream>>>(
            kernel);
    return cudaGetLastError();
}

}  // namespace
}  // namespace weft::cuda
