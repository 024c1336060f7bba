// SPDX-License-Identifier: Apache-2.0
// Packs row-major states into the planes of shaders/gram/gram_layout.h as float, double (WEFT_REAL64) or
// float16 (WEFT_MATRIX), and adds up parts of sums, which float16 has none of. NAME(x) is the function that
// launches x.
#include <cuda_runtime.h>

#include "cuda/vectors.cuh"
#include "ops_cuda/kernel_matrix/kernel_launch.hpp"
#include "shaders/gram/gram_interface.h"
#include "shaders/gram/gram_layout.h"

#if defined(WEFT_REAL64)
#define Real double
#define Complex dvec2
#else
#define Real float
#define Complex vec2
#endif

namespace weft::cuda {
namespace {

using namespace shared;

constexpr unsigned kThreads = 256;

#if defined(WEFT_REAL64)
template <bool widened>
#endif
struct GramPack {
    uint count, first;
    GramPackParameters p;
    const Complex* states;
#if defined(WEFT_REAL64)
    static constexpr bool kWidened = widened;
    const vec2* narrow_states;
#endif
#if defined(WEFT_MATRIX)
    uint* planes;
#else
    Real* planes;
#endif
#include "shaders/gram/gram_pack.glsl.h"
};

template <class Kernel>
__global__ void __launch_bounds__(kThreads) gram_kernel(const __grid_constant__ Kernel constants) {
    Kernel kernel = constants;
    kernel.run();
}

template <class Kernel>
int launch_pack(const GramPackLaunch& l) {
    Kernel kernel{};
    kernel.count = l.count;
    kernel.p = l.p;
    kernel.states = static_cast<const Complex*>(l.states);
#if defined(WEFT_REAL64)
    kernel.narrow_states = static_cast<const vec2*>(l.states);
#endif
    kernel.planes = static_cast<decltype(kernel.planes)>(l.planes);
    gram_kernel<<<l.count, kThreads, 0, l.stream>>>(kernel);
    return cudaGetLastError();
}

#if !defined(WEFT_MATRIX)
template <bool wide_values>
struct GramReduce {
    static constexpr bool kWide = wide_values;
    uint kTileRows, kTileColumns;
    bool kScaled;
    const Real* factors;
    uint count, first;
    GramReduceParameters r;
    const Real* parts;
    float *narrow, *narrow_mirror;
    uvec2 *wide, *wide_mirror;
#define p r.p
#include "shaders/gram/gram_reduce.glsl.h"
#undef p
};

template <bool wide_values>
int launch_sums(const GramLaunch& l) {
    GramReduce<wide_values> kernel{};
    set_output(kernel, l);
    kernel.kTileRows = l.tile_rows;
    kernel.kTileColumns = l.tile_columns;
    kernel.r = l.r;
    kernel.parts = static_cast<const Real*>(l.sums);
    gram_kernel<<<(l.count + kThreads - 1) / kThreads, kThreads, 0, l.stream>>>(kernel);
    return cudaGetLastError();
}
#endif

}  // namespace

int NAME(pack)(const GramPackLaunch& l) {
#if defined(WEFT_REAL64)
    return l.widened ? launch_pack<GramPack<true>>(l) : launch_pack<GramPack<false>>(l);
#else
    return launch_pack<GramPack>(l);
#endif
}

#if !defined(WEFT_MATRIX)
int NAME(reduce)(const GramLaunch& l) {
    return l.wide_values ? launch_sums<true>(l) : launch_sums<false>(l);
}
#endif

}  // namespace weft::cuda
