// SPDX-License-Identifier: Apache-2.0
// What the kernels of kernel operators have in common, in float or (WEFT_REAL64) in double.
#include <cuda_runtime.h>

#include <algorithm>

#include "cuda/vectors.cuh"
#include "ops_cuda/kernel_operator/operator_launch.hpp"

#if defined(WEFT_REAL64)
#define WEFT_FLOAT64
#define Real double
#define Real4 dvec4
#else
#define Real float
#define Real4 vec4_by_number
#endif
#define WEFT_IN64
#include "shaders/encode/circuit/encode_trig.h"
#include "shaders/encode/encode_parameters.h"
#include "shaders/kernel_matrix/kernel_angle.h"
#include "shaders/kernel_matrix/kernel_parameters.h"
#include "shaders/kernel_operator/operator_parameters.h"
#include "shaders/kernel_operator/operator_total.h"

namespace weft::cuda {
namespace {

using namespace shared;

// kStoreWide is a constant that encode_interface.glsl.h requires; no amplitude is stored here.
#define OPERATOR_MEMBERS(Launch, Parameters, threads)   \
    using LaunchOf = Launch;                            \
    static constexpr bool kStoreWide = false;           \
    static constexpr unsigned kWorkgroupSize = threads; \
    uint count, first;                                  \
    Parameters p

// Bodies write to members, which a copy of the kernel's argument must not be (nvcc 13 drops such writes): a
// kernel fills in a struct of its own.
template <class Kernel>
__global__ void __launch_bounds__(Kernel::kWorkgroupSize)
    operator_kernel(const __grid_constant__ typename Kernel::LaunchOf launch) {
    Kernel kernel;
    kernel.count = launch.count;
    kernel.first = 0;
    kernel.p = launch.p;
    kernel.take(launch);
    kernel.run();
}

template <class Kernel>
int launch_operator(std::uint64_t workgroups, const typename Kernel::LaunchOf& l) {
    operator_kernel<Kernel><<<static_cast<unsigned>(std::min<std::uint64_t>(workgroups, 0x7fffffff)),
                              Kernel::kWorkgroupSize, 0, l.stream>>>(l);
    return cudaGetLastError();
}

}  // namespace
}  // namespace weft::cuda
