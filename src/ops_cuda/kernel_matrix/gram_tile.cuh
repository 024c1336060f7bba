// SPDX-License-Identifier: Apache-2.0
// Tiles of |X Y^H|^2 from packed planes of float (WEFT_3M: by three products) or of double (WEFT_REAL64).
// LAUNCH is the function that launches them.
#include <cuda_runtime.h>

#include <type_traits>

#include "cuda/vectors.cuh"
#include "ops_cuda/kernel_matrix/kernel_launch.hpp"
#include "shaders/gram/gram_interface.h"
#include "shaders/gram/gram_layout.h"

#if defined(WEFT_REAL64)
#define Real double
#define Real4 dvec4
#else
#define Real float
#define Real4 vec4_by_number
#endif

namespace weft::cuda {
namespace {

using namespace shared;

template <uint tile_rows, uint tile_columns, uint stages, bool wide_values>
struct GramTile {
#if defined(WEFT_REAL64)
    static constexpr uint kRows = 4;
#else
    static constexpr uint kRows = 8;
#endif
#if defined(WEFT_3M)
    static constexpr uint kHeld = 3, kSums = 3;
#else
    static constexpr uint kHeld = 2, kSums = 2;
#endif
    static constexpr uint kRowThreads = tile_rows / kRows, kColumnThreads = tile_columns / 4,
                          kStages = stages;
    static constexpr bool kWide = wide_values;
    uint kFlushBlocks, kParts;
    bool kScaled;
    const Real* factors;
    uint count, first;
    GramParameters p;
    const Real4 *x, *y;
    float *narrow, *narrow_mirror;
    uvec2 *wide, *wide_mirror;
    Real4* parts;
#include "shaders/gram/gram_store.glsl.h"

#include "shaders/gram/gram_tile.glsl.h"
};

template <class Kernel>
__global__ void __launch_bounds__(Kernel::kRowThreads* Kernel::kColumnThreads)
    gram_tile_kernel(const __grid_constant__ Kernel constants) {
    Kernel kernel = constants;
    kernel.run();
}

template <uint rows, uint columns, uint stages, bool wide_values>
int launch(const GramLaunch& l) {
    using Kernel = GramTile<rows, columns, stages, wide_values>;
    Kernel kernel{};
    set_output(kernel, l);
    kernel.kFlushBlocks = l.flush_blocks;
    kernel.kParts = l.split;
    kernel.p = l.r.p;
    kernel.x = static_cast<const Real4*>(l.x);
    kernel.y = static_cast<const Real4*>(l.y);
    kernel.parts = static_cast<Real4*>(l.sums);
    gram_tile_kernel<<<l.count, Kernel::kRowThreads * Kernel::kColumnThreads, 0, l.stream>>>(kernel);
    return cudaGetLastError();
}

template <uint rows, uint columns, uint stages>
int launch_tile(const GramLaunch& l) {
    return l.wide_values ? launch<rows, columns, stages, true>(l) : launch<rows, columns, stages, false>(l);
}

}  // namespace

int LAUNCH(const GramLaunch& l) {
    // Those of kernels::gram_tiles.
    if (l.tile_rows == 32) return l.stages == 2 ? launch_tile<32, 32, 2>(l) : launch_tile<32, 32, 1>(l);
#if !defined(WEFT_REAL64)
    if (l.tile_rows == 128) return launch_tile<128, 64, 1>(l);
#endif
    if (l.tile_columns == 32) return launch_tile<64, 32, 2>(l);
    return l.stages == 2 ? launch_tile<64, 64, 2>(l) : launch_tile<64, 64, 1>(l);
}

}  // namespace weft::cuda
