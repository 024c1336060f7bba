// SPDX-License-Identifier: Apache-2.0
// Inner products of rows of lattice codes by a table, and the choice among the lattice kernels.
#include <cuda_runtime.h>

#include <algorithm>

#include "ops_cuda/lattice/lattice_launch.hpp"
#include "shaders/shared/portable.h"

namespace weft::cuda {
namespace {

using namespace shared;

struct LatticeInner {
    uint kQ, kLevels, kBits, kDim, kPoints;
    uint count, element_rows, rows, tiles, y_step;
    float scale;
    const uint *x, *y, *table;
    float* result;
#include "shaders/lattice/lattice_inner.glsl.h"
};

__global__ void __launch_bounds__(128) lattice_inner_kernel(const __grid_constant__ LatticeInner constants) {
    LatticeInner kernel = constants;
    kernel.run();
}

}  // namespace

int launch_lattice_inner(const InnerLaunch& l) {
    const LatticeInner kernel{l.q,     l.levels, l.bits,  l.dim, l.points, l.rows,  1,    l.rows,
                              l.tiles, l.y_step, l.scale, l.x,   l.y,      l.table, l.out};
    lattice_inner_kernel<<<std::min((l.rows - 1) / 128 + 1, 0x7fffffffu), 128, 0, l.stream>>>(kernel);
    return cudaGetLastError();
}

}  // namespace weft::cuda
