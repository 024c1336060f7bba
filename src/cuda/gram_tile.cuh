// SPDX-License-Identifier: Apache-2.0
// Tiles of |X Y^H|^2 from packed planes of float (WEFT_3M: by three products) or of double (WEFT_WORK64).
// LAUNCH is the name of what launches them.
#include <cuda_runtime.h>

#include <type_traits>

#include "cuda/kernel_launch.hpp"
#include "cuda/vectors.cuh"
#include "shared/gram_form.h"
#include "shared/gram_layout.h"

#if defined(WEFT_WORK64)
#define Real double
#define Real4 dvec4
#else
#define Real float
#define Real4 vec4_by_number
#endif

namespace weft::cuda {
namespace {

using namespace shared;

template <uint side, uint stages, bool wide_values>
struct GramTile {
#if defined(WEFT_WORK64)
    static constexpr uint kRows = 4;
#else
    static constexpr uint kRows = 8;
#endif
#if defined(WEFT_3M)
    static constexpr uint kHeld = 3, kSums = 3;
#else
    static constexpr uint kHeld = 2, kSums = 2;
#endif
    static constexpr uint kRowThreads = side / kRows, kColumnThreads = side / 4, kStages = stages;
    static constexpr bool kWide = wide_values;
    uint kFlushBlocks, kParts;
    uint count, first;
    GramParameters p;
    const Real4 *x, *y;
    float *narrow, *narrow_mirror;
    uvec2 *wide, *wide_mirror;
    Real4* parts;
#include "shared/gram_store.h"

#include "shared/gram_tile.h"
};

template <class Kernel>
__global__ void __launch_bounds__(Kernel::kRowThreads* Kernel::kColumnThreads)
    gram_tile_kernel(const __grid_constant__ Kernel constants) {
    Kernel kernel = constants;
    kernel.run();
}

template <uint side, uint stages, bool wide_values>
int launch(const GramLaunch& l) {
    using Kernel = GramTile<side, stages, wide_values>;
    Kernel kernel{};
    kernel.kFlushBlocks = l.plan->flush / l.plan->step;
    kernel.kParts = l.plan->split;
    kernel.count = l.count;
    kernel.p = l.r.p;
    kernel.x = static_cast<const Real4*>(l.x);
    kernel.y = static_cast<const Real4*>(l.y);
    kernel.narrow = static_cast<float*>(l.out);
    kernel.narrow_mirror = static_cast<float*>(l.mirror);
    kernel.wide = static_cast<uvec2*>(l.out);
    kernel.wide_mirror = static_cast<uvec2*>(l.mirror);
    kernel.parts = static_cast<Real4*>(l.sums);
    gram_tile_kernel<<<l.count, Kernel::kRowThreads * Kernel::kColumnThreads, 0, l.stream>>>(kernel);
    return cudaGetLastError();
}

template <uint side>
int launch_side(const GramLaunch& l) {
    const bool wide = l.plan->problem.output == kernels::GramReal::float64;
    if (l.plan->tile.stages == 2) return wide ? launch<side, 2, true>(l) : launch<side, 2, false>(l);
    return wide ? launch<side, 1, true>(l) : launch<side, 1, false>(l);
}

}  // namespace

int LAUNCH(const GramLaunch& l) {
    return l.plan->tile.rows == 64 ? launch_side<64>(l) : launch_side<32>(l);
}

}  // namespace weft::cuda
