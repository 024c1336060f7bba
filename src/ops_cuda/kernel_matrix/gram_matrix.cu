// SPDX-License-Identifier: Apache-2.0
// A tile of |X Y^H|^2 by matrix units, from packed planes of float16: high and low parts and three products.
// A warp computes 32 x 32 outputs and adds its sums to outer sums at every flush, as in
// shaders/gram/gram_matrix.comp.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#include "ops_cuda/kernel_matrix/kernel_launch.hpp"
#include "shaders/gram/gram_interface.h"
#include "shaders/gram/gram_layout.h"

namespace weft::cuda {
namespace {

using namespace shared;
using namespace nvcuda;

using FragmentA = wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major>;
using FragmentB = wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major>;
using Sum = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

constexpr unsigned kPlanes = 4;
// In units of 16 bytes. Rows in shared memory are one unit longer, so that they begin in different banks.
constexpr unsigned kRow = 2 * kPlanes, kStride = kRow + 1, kBlock = kGramBlockRows * kRow;
constexpr unsigned kSide = 16, kFragments = 2, kSpan = kFragments * kSide, kSums = kFragments * kFragments;
constexpr unsigned kHalves = 8;  // of a unit

struct GramMatrix {
    unsigned count, flush_blocks;
    bool kScaled;
    const float* factors;
    GramParameters p;
    const uint4 *x, *y;
    float *narrow, *narrow_mirror;
    uvec2 *wide, *wide_mirror;
    float* parts;
};

template <bool kWide>
struct Output : GramMatrix {
    using Real = float;
    // Elements beyond the edge of K, or above a diagonal whose mirror images are written, are left out.
#include "shaders/gram/gram_store.glsl.h"
};

__device__ void clear(Sum (&sums)[kSums]) {
#pragma unroll
    for (Sum& sum : sums) wmma::fill_fragment(sum, 0.0f);
}

__device__ void add(Sum (&to)[kSums], const Sum (&from)[kSums]) {
#pragma unroll
    for (unsigned n = 0; n < kSums; ++n)
#pragma unroll
        for (int e = 0; e < to[n].num_elements; ++e) to[n].x[e] += from[n].x[e];
}

__device__ FragmentB minus(const FragmentB& b) {
    FragmentB result;
#pragma unroll
    for (int e = 0; e < b.num_elements; ++e) result.x[e] = __hneg(b.x[e]);
    return result;
}

// re += ar br + ai bi and im += ai br - ar bi, without the products of two low parts. a and b have four
// parts: high and low of the real part, then of the imaginary part.
__device__ void multiply(Sum& re, Sum& im, const FragmentA* a, const FragmentB* b,
                         const FragmentB& minus_high, const FragmentB& minus_low) {
    wmma::mma_sync(re, a[0], b[1], re);
    wmma::mma_sync(re, a[1], b[0], re);
    wmma::mma_sync(re, a[2], b[3], re);
    wmma::mma_sync(re, a[3], b[2], re);
    wmma::mma_sync(re, a[0], b[0], re);
    wmma::mma_sync(re, a[2], b[2], re);
    wmma::mma_sync(im, a[2], b[1], im);
    wmma::mma_sync(im, a[3], b[0], im);
    wmma::mma_sync(im, a[0], minus_low, im);
    wmma::mma_sync(im, a[1], minus_high, im);
    wmma::mma_sync(im, a[2], b[0], im);
    wmma::mma_sync(im, a[0], minus_high, im);
}

__device__ const __half* halves(const uint4* held) {
    return reinterpret_cast<const __half*>(held);
}

// The products of one step of amplitudes, which lies in shared memory.
__device__ void take_step(Sum (&re)[kSums], Sum (&im)[kSums], const uint4* held_a, const uint4* held_b) {
    FragmentA a[kFragments][kPlanes];
#pragma unroll
    for (unsigned i = 0; i < kFragments; ++i)
#pragma unroll
        for (unsigned s = 0; s < kPlanes; ++s)
            wmma::load_matrix_sync(a[i][s], halves(held_a + i * kSide * kStride + 2 * s), kStride * kHalves);
#pragma unroll
    for (unsigned j = 0; j < kFragments; ++j) {
        FragmentB b[kPlanes];
#pragma unroll
        for (unsigned s = 0; s < kPlanes; ++s)
            wmma::load_matrix_sync(b[s], halves(held_b + j * kSide * kStride + 2 * s), kStride * kHalves);
        const FragmentB minus_high = minus(b[2]), minus_low = minus(b[3]);
#pragma unroll
        for (unsigned i = 0; i < kFragments; ++i)
            multiply(re[i * kFragments + j], im[i * kFragments + j], a[i], b, minus_high, minus_low);
    }
}

// Packed rows of a side on their way to shared memory. A tile that reaches beyond the last 64 rows reads
// these again.
template <unsigned kHigh, unsigned kThreads>
struct Side {
    static constexpr unsigned kLoads = kHigh * kRow / kThreads;
    static constexpr unsigned kBlocks = (kHigh + kGramBlockRows - 1) / kGramBlockRows;
    const uint4* from[kBlocks];
    uint4 next[kLoads];

    __device__ void aim(const uint4* planes, unsigned base, unsigned rows, unsigned blocks, unsigned block) {
#pragma unroll
        for (unsigned n = 0; n < kBlocks; ++n) {
            const unsigned at = min(base / kGramBlockRows + n, (rows - 1) / kGramBlockRows);
            from[n] = planes + (std::uint64_t{at} * blocks + block) * kBlock + base % kGramBlockRows * kRow +
                      threadIdx.x;
        }
    }
    __device__ void load() {
#pragma unroll
        for (unsigned i = 0; i < kLoads; ++i) next[i] = from[i * kThreads / kBlock][i * kThreads % kBlock];
#pragma unroll
        for (unsigned n = 0; n < kBlocks; ++n) from[n] += kBlock;
    }
    __device__ void hold(uint4* held) const {
#pragma unroll
        for (unsigned i = 0; i < kLoads; ++i) held[i * (kThreads / kRow) * kStride] = next[i];
    }
};

// Stores 16 x 16 results. Neighbouring lanes write neighbouring elements of K, and of its mirror image.
template <bool kWide>
__device__ void store_result(Output<kWide>& output, unsigned row0, unsigned column0, const float* result) {
    const auto scaled = [&](unsigned r, unsigned c) {
        return output.gram_scaled(row0 + r, column0 + c, result[r * kSide + c]);
    };
    for (unsigned e = threadIdx.x % 32; e < kSide * kSide; e += 32)
        output.gram_store_direct(row0 + e / kSide, column0 + e % kSide, scaled(e / kSide, e % kSide));
    if (output.p.mirror == 0) return;
    for (unsigned e = threadIdx.x % 32; e < kSide * kSide; e += 32)
        output.gram_store_mirror(row0 + e % kSide, column0 + e / kSide, scaled(e % kSide, e / kSide));
}

// Writes the sums of this warp, whose outputs begin at (row, column) of the tile, as parts of sums, or as K
// through shared memory.
template <bool kWide, unsigned kHigh, unsigned kWidth, bool kSplit>
__device__ __forceinline__ void write_sums(Output<kWide>& output, Sum (&re)[kSums], Sum (&im)[kSums],
                                           unsigned base_x, unsigned base_y, unsigned row, unsigned column,
                                           uint4* held) {
    constexpr float kUnscale = 1.0f / (32768.0f * 32768.0f);  // kGramScale
    float* const result = reinterpret_cast<float*>(held) + threadIdx.x / 32 * kSide * kSide;
#pragma unroll
    for (unsigned n = 0; n < kSums; ++n) {
        const unsigned r = row + n / kFragments * kSide, c = column + n % kFragments * kSide;
#pragma unroll
        for (int e = 0; e < re[n].num_elements; ++e) {
            re[n].x[e] *= kUnscale;
            im[n].x[e] *= kUnscale;
        }
        if constexpr (kSplit) {
            float* const part =
                output.parts + std::uint64_t{blockIdx.x} * 2 * kHigh * kWidth + r * kWidth + c;
            wmma::store_matrix_sync(part, re[n], kWidth, wmma::mem_row_major);
            wmma::store_matrix_sync(part + kHigh * kWidth, im[n], kWidth, wmma::mem_row_major);
        } else {
#pragma unroll
            for (int e = 0; e < re[n].num_elements; ++e)
                re[n].x[e] = re[n].x[e] * re[n].x[e] + im[n].x[e] * im[n].x[e];
            wmma::store_matrix_sync(result, re[n], kSide, wmma::mem_row_major);
            __syncwarp();
            store_result(output, base_x + r, base_y + c, result);
            __syncwarp();
        }
    }
}

template <bool kWide, unsigned kHigh, unsigned kWidth, bool kSplit>
__global__ void __launch_bounds__(kHigh / kSpan * (kWidth / kSpan) * 32)
    gram_matrix(const __grid_constant__ Output<kWide> constants) {
    constexpr unsigned kThreads = kHigh / kSpan * (kWidth / kSpan) * 32, kWarps = kThreads / 32;
    constexpr unsigned kUnits = (kHigh + kWidth) * kStride, kResults = kWarps * kSide * kSide / 4;
    __shared__ uint4 held[kUnits > kResults ? kUnits : kResults];
    Output<kWide> output = constants;
    const GramParameters& p = output.p;
    const unsigned index = blockIdx.x, warp = threadIdx.x / 32;
    const uvec2 tile = gram_tile(index % p.tiles, p.across, p.rows, kHigh, kWidth);
    if (tile.y * kWidth >= p.columns) return;
    const unsigned row = warp / (kWidth / kSpan) * kSpan, column = warp % (kWidth / kSpan) * kSpan;
    const unsigned base_x = tile.x * kHigh, base_y = tile.y * kWidth;
    unsigned block = index / p.tiles * p.part_blocks;
    const unsigned end = min(block + p.part_blocks, p.blocks);

    Side<kHigh, kThreads> x;
    Side<kWidth, kThreads> y;
    x.aim(output.x, base_x, p.rows, p.blocks, block);
    y.aim(output.y, base_y, p.columns, p.blocks, block);
    uint4* const to = held + threadIdx.x / kRow * kStride + threadIdx.x % kRow;
    Sum re[kSums], im[kSums];
    clear(re);
    clear(im);
    if (block < end) x.load(), y.load();
    while (block < end) {
        const unsigned stop = min(block + output.flush_blocks, end);
        Sum sum_re[kSums], sum_im[kSums];
        clear(sum_re);
        clear(sum_im);
        for (; block < stop; ++block) {
            x.hold(to);
            y.hold(to + kHigh * kStride);
            __syncthreads();
            if (block + 1 < end) x.load(), y.load();
            take_step(sum_re, sum_im, held + row * kStride, held + (kHigh + column) * kStride);
            __syncthreads();
        }
        add(re, sum_re);
        add(im, sum_im);
    }
    write_sums<kWide, kHigh, kWidth, kSplit>(output, re, im, base_x, base_y, row, column, held);
}

template <bool kWide, unsigned kHigh, unsigned kWidth>
int launch(const GramLaunch& l) {
    Output<kWide> output{};
    set_output(output, l);
    output.flush_blocks = l.flush_blocks;
    output.p = l.r.p;
    output.x = static_cast<const uint4*>(l.x);
    output.y = static_cast<const uint4*>(l.y);
    output.parts = static_cast<float*>(l.sums);
    constexpr unsigned kThreads = kHigh / kSpan * (kWidth / kSpan) * 32;
    if (l.split > 1)
        gram_matrix<kWide, kHigh, kWidth, true><<<l.count, kThreads, 0, l.stream>>>(output);
    else
        gram_matrix<kWide, kHigh, kWidth, false><<<l.count, kThreads, 0, l.stream>>>(output);
    return cudaGetLastError();
}

template <bool kWide>
int launch_tile(const GramLaunch& l) {
    if (l.tile_rows == 128) return launch<kWide, 128, 64>(l);
    return l.tile_rows == 64 ? launch<kWide, 64, 64>(l) : launch<kWide, 32, 32>(l);
}

}  // namespace

int launch_gram_matrix(const GramLaunch& l) {
    return l.wide_values ? launch_tile<true>(l) : launch_tile<false>(l);
}

}  // namespace weft::cuda
