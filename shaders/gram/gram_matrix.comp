// SPDX-License-Identifier: Apache-2.0
// A tile of |X Y^H|^2 by matrix units, from packed planes of float16: high and low parts, and three products. There are
// kRowGroups by kColumnGroups subgroups, each with 32 x 32 or 16 x 64 outputs.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "gram_units.h"
#include "gram_interface.h"
#include "gram_layout.h"

#define Real float

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint kRowGroups = 4;
layout(constant_id = 2) const uint kColumnGroups = 2;
layout(constant_id = 3) const bool kWide = false;
layout(constant_id = 4) const uint kFlushBlocks = 16;
layout(constant_id = 5) const uint kParts = 1;
layout(constant_id = 6) const uint kStages = 1;
layout(constant_id = 7) const uint kThreads = 256;     // the same as local_size_x_id
layout(constant_id = 8) const uint kFragmentRows = 2;  // rows of 16 x 16 results of a subgroup

layout(push_constant) uniform Push {
    uint count;
    uint first;
    GramParameters p;
};
layout(set = 0, binding = 0) readonly buffer X { uvec4 x[]; };
layout(set = 0, binding = 1) readonly buffer Y { uvec4 y[]; };
layout(set = 0, binding = 4) writeonly buffer Parts { float parts[]; };
#include "gram_factors.h"
#include "gram_output.h"
#include "gram_store.glsl.h"

// A complex number has kPlanes parts. Sizes are in units of eight float16; rows in shared memory are longer by one
// unit, so that they begin in different banks.
const uint kPlanes = 4u, kRow = 2u * kPlanes, kStride = kRow + 1u;
const uint kBlock = kGramBlockRows * kRow;
const uint kSide = 16u, kSums = 4u, kFragmentColumns = kSums / kFragmentRows;
const uint kSpanHigh = kFragmentRows * kSide, kSpanWide = kFragmentColumns * kSide;
const uint kHigh = kRowGroups * kSpanHigh, kWidth = kColumnGroups * kSpanWide;
// Rows of a block follow each other, so the loads of an invocation have a constant distance.
const uint kLoadsX = kHigh * kRow / kThreads, kLoadsY = kWidth * kRow / kThreads;
const uint kBlocksX = (kHigh + kGramBlockRows - 1u) / kGramBlockRows;
const uint kBlocksY = (kWidth + kGramBlockRows - 1u) / kGramBlockRows;
const uint kRowsApart = kThreads / kRow;
// The same memory is used for the 16 x 16 results of each subgroup.
const uint kResult = kSide * kSide / 4u;
const uint kTileUnits = (kHigh + kWidth) * kStride, kResultUnits = kRowGroups * kColumnGroups * kResult;

shared uvec4 held[kStages * kTileUnits > kResultUnits ? kStages * kTileUnits : kResultUnits];
const uint kHeldY = kHigh * kStride;

// Outer sums, and sums since the last flush. Each has its own declaration, because glslang 13 drops the `use` of a
// cooperative matrix after the first name of a declaration.
MatrixSum re[kSums];
MatrixSum im[kSums];
MatrixSum sum_re[kSums];
MatrixSum sum_im[kSums];

uvec4 next_x[kLoadsX], next_y[kLoadsY];
uint from_x[kBlocksX], from_y[kBlocksY];

// Where this invocation's part of packed block `block` begins, in the `n`th 64 rows of a tile that begins at row
// `base`. A tile may extend beyond the last 64 rows; it then reads those again.
uint source(uint base, uint n, uint rows, uint block) {
    const uint at = min(base / kGramBlockRows + n, (rows - 1u) / kGramBlockRows);
    return (at * p.blocks + block) * kBlock + base % kGramBlockRows * kRow + gl_LocalInvocationIndex;
}

void load() {
    WEFT_UNROLL for (uint i = 0u; i < kLoadsX; ++i)
        next_x[i] = x[from_x[i * kThreads / kBlock] + i * kThreads % kBlock];
    WEFT_UNROLL for (uint i = 0u; i < kLoadsY; ++i)
        next_y[i] = y[from_y[i * kThreads / kBlock] + i * kThreads % kBlock];
    WEFT_UNROLL for (uint n = 0u; n < kBlocksX; ++n) from_x[n] += kBlock;
    WEFT_UNROLL for (uint n = 0u; n < kBlocksY; ++n) from_y[n] += kBlock;
}

void hold(uint to) {
    WEFT_UNROLL for (uint i = 0u; i < kLoadsX; ++i) held[to + i * kRowsApart * kStride] = next_x[i];
    WEFT_UNROLL for (uint i = 0u; i < kLoadsY; ++i) held[to + kHeldY + i * kRowsApart * kStride] = next_y[i];
}

// Stores the 16 x 16 results in this subgroup's part of shared memory: neighbouring lanes write neighbouring elements,
// in K and in its mirror image. A subgroup is a multiple of 16 lanes, so a lane stays in its column, and then in its
// row.
void store_result(uint row0, uint column0, uint at) {
    const uint own = gl_SubgroupInvocationID % kSide;
    const float of_own_column = gram_column_factor(column0 + own);
    for (uint r = gl_SubgroupInvocationID / kSide; r < kSide; r += gl_SubgroupSize / kSide) {
        const float value = uintBitsToFloat(held[at + r * 4u + own / 4u][own % 4u]);
        gram_store_direct(row0 + r, column0 + own, gram_times(value, gram_row_factor(row0 + r), of_own_column));
    }
    if (p.mirror == 0u) return;
    const float of_own_row = gram_row_factor(row0 + own);
    for (uint c = gl_SubgroupInvocationID / kSide; c < kSide; c += gl_SubgroupSize / kSide) {
        const float value = uintBitsToFloat(held[at + own * 4u + c / 4u][c % 4u]);
        gram_store_mirror(row0 + own, column0 + c, gram_times(value, of_own_row, gram_column_factor(column0 + c)));
    }
}

void clear_sums() {
    WEFT_UNROLL for (uint n = 0u; n < kSums; ++n) sum_re[n] = sum_im[n] = MatrixSum(0.0);
}

// Adds the sums to the outer sums, which have few additions and so small rounding errors.
void flush() {
    WEFT_UNROLL for (uint n = 0u; n < kSums; ++n) {
        re[n] += sum_re[n];
        im[n] += sum_im[n];
    }
}

// re += ar br + ai bi, im += ai br - ar bi, each without the products of two low parts.
void add_products(MatrixA a[2u * kPlanes], MatrixB b[kPlanes], uint j) {
    const MatrixB minus_high = -b[2];
    const MatrixB minus_low = -b[3];
    WEFT_UNROLL for (uint i = 0u; i < kFragmentRows; ++i) {
        const uint n = i * kFragmentColumns + j;
        sum_re[n] = matrix_add_product(a[i * kPlanes + 0u], b[1], sum_re[n]);
        sum_re[n] = matrix_add_product(a[i * kPlanes + 1u], b[0], sum_re[n]);
        sum_re[n] = matrix_add_product(a[i * kPlanes + 2u], b[3], sum_re[n]);
        sum_re[n] = matrix_add_product(a[i * kPlanes + 3u], b[2], sum_re[n]);
        sum_re[n] = matrix_add_product(a[i * kPlanes + 0u], b[0], sum_re[n]);
        sum_re[n] = matrix_add_product(a[i * kPlanes + 2u], b[2], sum_re[n]);
        sum_im[n] = matrix_add_product(a[i * kPlanes + 2u], b[1], sum_im[n]);
        sum_im[n] = matrix_add_product(a[i * kPlanes + 3u], b[0], sum_im[n]);
        sum_im[n] = matrix_add_product(a[i * kPlanes + 0u], minus_low, sum_im[n]);
        sum_im[n] = matrix_add_product(a[i * kPlanes + 1u], minus_high, sum_im[n]);
        sum_im[n] = matrix_add_product(a[i * kPlanes + 2u], b[0], sum_im[n]);
        sum_im[n] = matrix_add_product(a[i * kPlanes + 0u], minus_high, sum_im[n]);
    }
}

// Whether the loads of the next step come after those of `a`: this makes products 13 % faster through KHR and 6 to 9 %
// through NVIDIA's extension. With one row of fragments the loads come first, which makes products 5 % faster.
const bool kLoadLate = kFragmentRows == 2u;

void step(uint held_a, uint held_b, bool more) {
    if (!kLoadLate && more) load();
    MatrixA a[2u * kPlanes];
    WEFT_UNROLL for (uint i = 0u; i < kFragmentRows; ++i) {
        WEFT_UNROLL for (uint s = 0u; s < kPlanes; ++s)
            matrix_load_rows(a[i * kPlanes + s], held, held_a + i * kSide * kStride + 2u * s, kStride);
    }
    if (kLoadLate && more) load();
    WEFT_UNROLL for (uint j = 0u; j < kFragmentColumns; ++j) {
        MatrixB b[kPlanes];
        WEFT_UNROLL for (uint s = 0u; s < kPlanes; ++s)
            matrix_load_columns(b[s], held, held_b + j * kSide * kStride + 2u * s, kStride);
        add_products(a, b, j);
    }
}

// Stores the squared moduli, or a part of the sums, of a subgroup whose outputs begin at `row` and `column` of the
// tile.
void finish(uint index, uvec2 base, uint row, uint column) {
    const float unscale = 1.0 / (kGramScale * kGramScale);
    const uint at = gl_SubgroupID * kResult;
    WEFT_UNROLL for (uint n = 0u; n < kSums; ++n) {
        const uint r = row + n / kFragmentColumns * kSide, c = column + n % kFragmentColumns * kSide;
        re[n] = re[n] * unscale;
        im[n] = im[n] * unscale;
        if (kParts > 1u) {
            const uint part = index * 2u * kHigh * kWidth + r * kWidth + c;
            matrix_store(re[n], parts, part, kWidth);
            matrix_store(im[n], parts, part + kHigh * kWidth, kWidth);
            continue;
        }
        for (int e = 0; e < re[n].length(); ++e) re[n][e] = re[n][e] * re[n][e] + im[n][e] * im[n][e];
        matrix_store(re[n], held, at, 4u);
        subgroupMemoryBarrierShared();
        subgroupBarrier();
        store_result(base.x + r, base.y + c, at);
        subgroupBarrier();
    }
}

void main() {
    const uint index = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (index >= count) return;
    const uvec2 tile = gram_tile(index % p.tiles, p.across, p.rows, kHigh, kWidth);
    if (tile.y * kWidth >= p.columns) return;
    const uint row = gl_SubgroupID / kColumnGroups * kSpanHigh;
    const uint column = gl_SubgroupID % kColumnGroups * kSpanWide;
    const uvec2 base = tile * uvec2(kHigh, kWidth);
    uint block = index / p.tiles * p.part_blocks;
    const uint end = min(block + p.part_blocks, p.blocks);

    WEFT_UNROLL for (uint n = 0u; n < kSums; ++n) re[n] = im[n] = MatrixSum(0.0);
    WEFT_UNROLL for (uint n = 0u; n < kBlocksX; ++n) from_x[n] = source(base.x, n, p.rows, block);
    WEFT_UNROLL for (uint n = 0u; n < kBlocksY; ++n) from_y[n] = source(base.y, n, p.columns, block);
    const uint to = gl_LocalInvocationIndex / kRow * kStride + gl_LocalInvocationIndex % kRow;
    uint stage = 0u;
    if (block < end) load();
    while (block < end) {
        const uint stop = min(block + kFlushBlocks, end);
        clear_sums();
        for (; block < stop; ++block) {
            hold(stage + to);
            barrier();
            step(stage + row * kStride, stage + kHeldY + column * kStride, block + 1u < end);
            // With two stages, a late invocation still reads the other stage, so no barrier is needed.
            if (kStages == 1u) barrier();
            else stage = kTileUnits - stage;
        }
        flush();
    }
    if (kStages > 1u) barrier();
    finish(index, base, row, column);
}
