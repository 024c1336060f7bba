// SPDX-License-Identifier: Apache-2.0
// A tile of 64 x 64 values of |X Y^H|^2 from packed planes of float, for devices that load and store lane by lane, as
// software devices do (see kernel_product_lanes.comp). An invocation has 8 x 8 complex sums in registers and reads
// eight rows in one access. There is no shared memory.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "gram_interface.h"
#include "gram_layout.h"

#define Real float

layout(local_size_x = 64) in;
layout(constant_id = 3) const bool kWide = false;
layout(constant_id = 4) const uint kFlushBlocks = 32;
layout(constant_id = 5) const uint kParts = 1;

layout(push_constant) uniform Push {
    uint count;
    uint first;
    GramParameters p;
};
layout(set = 0, binding = 0) readonly buffer X { dvec4 x[]; };
layout(set = 0, binding = 1) readonly buffer Y { dvec4 y[]; };
layout(set = 0, binding = 4) writeonly buffer Parts { float parts[]; };
layout(set = 0, binding = 2) writeonly buffer Eights { dvec4 eights[]; };
layout(set = 0, binding = 3) writeonly buffer EightsMirror { dvec4 eights_mirror[]; };
#include "gram_factors.h"
#include "gram_output.h"
#include "gram_store.glsl.h"
#include "shaders/shared/lane_units.glsl.h"

const uint kSide = kUnitFloats, kTile = 64u, kDepth = 4u, kPlaneUnits = kGramStep * kGramBlockRows / kSide;
const uint kBlock = kGramPlanes * kPlaneUnits;

float a[kGramPlanes][kDepth][kSide], b[kGramPlanes][kDepth][kSide];
float sum_re[kSide][kSide], sum_im[kSide][kSide], re[kSide][kSide], im[kSide][kSide];

// Loads kDepth amplitudes of eight rows on each side, from these units on.
void load(uint from_x, uint from_y) {
    WEFT_UNROLL for (uint plane = 0u; plane < kGramPlanes; ++plane) WEFT_UNROLL for (uint k = 0u; k < kDepth; ++k) {
        const uint at = plane * kPlaneUnits + k * kGramBlockRows / kSide;
        const dvec4 of_x = x[from_x + at], of_y = y[from_y + at];
        WEFT_UNROLL for (uint e = 0u; e < kSide; ++e) {
            a[plane][k][e] = unit_element(of_x, e);
            b[plane][k][e] = unit_element(of_y, e);
        }
    }
}

// The loop over amplitudes is the innermost one, so that a sum stays in its register.
void add_products() {
    WEFT_UNROLL for (uint i = 0u; i < kSide; ++i) WEFT_UNROLL for (uint j = 0u; j < kSide; ++j)
        WEFT_UNROLL for (uint k = 0u; k < kDepth; ++k) {
            sum_re[i][j] = fma(a[1][k][i], b[1][k][j], fma(a[0][k][i], b[0][k][j], sum_re[i][j]));
            sum_im[i][j] = fma(-a[0][k][i], b[1][k][j], fma(a[1][k][i], b[0][k][j], sum_im[i][j]));
        }
}

void add_blocks(uint block, uint end, uint from_x, uint from_y) {
    WEFT_UNROLL for (uint i = 0u; i < kSide; ++i) WEFT_UNROLL for (uint j = 0u; j < kSide; ++j)
        re[i][j] = im[i][j] = 0.0;
    while (block < end) {
        const uint stop = min(block + kFlushBlocks, end);
        WEFT_UNROLL for (uint i = 0u; i < kSide; ++i) WEFT_UNROLL for (uint j = 0u; j < kSide; ++j)
            sum_re[i][j] = sum_im[i][j] = 0.0;
        for (; block < stop; ++block) {
            WEFT_UNROLL for (uint k = 0u; k < kGramStep; k += kDepth) {
                const uint at = block * kBlock + k * kGramBlockRows / kSide;
                load(from_x + at, from_y + at);
                add_products();
            }
        }
        WEFT_UNROLL for (uint i = 0u; i < kSide; ++i) WEFT_UNROLL for (uint j = 0u; j < kSide; ++j) {
            re[i][j] += sum_re[i][j];
            im[i][j] += sum_im[i][j];
        }
    }
}

// Whether all 8 x 8 values are stored, and each row of them is one unit, both in K and in its mirror image.
bool in_units(uint row, uint column) {
    return !kWide && (p.leading | p.origin | p.mirror_origin) % kSide == 0u && row + kSide <= p.rows &&
           column + kSide <= p.columns && (p.across != 0u || row > column);
}

// Like gram_scaled, but every factor is loaded once.
void scale_all(uint row, uint column) {
    float of_row[kSide], of_column[kSide];
    WEFT_UNROLL for (uint i = 0u; i < kSide; ++i) {
        of_row[i] = gram_row_factor(row + i);
        of_column[i] = gram_column_factor(column + i);
    }
    WEFT_UNROLL for (uint i = 0u; i < kSide; ++i) WEFT_UNROLL for (uint j = 0u; j < kSide; ++j) {
        re[i][j] = gram_times(re[i][j], of_row[i], of_column[j]);
    }
}

void store_units(uint row, uint column) {
    WEFT_UNROLL for (uint i = 0u; i < kSide; ++i)
        eights[(p.origin + (row + i) * p.leading + column) / kSide] = unit_of(re[i]);
    if (p.mirror == 0u) return;
    WEFT_UNROLL for (uint j = 0u; j < kSide; ++j) {
        float mirrored[kSide];
        WEFT_UNROLL for (uint i = 0u; i < kSide; ++i) mirrored[i] = re[i][j];
        eights_mirror[(p.mirror_origin + (column + j) * p.leading + row) / kSide] = unit_of(mirrored);
    }
}

void store_parts(uint at) {
    WEFT_UNROLL for (uint i = 0u; i < kSide; ++i) WEFT_UNROLL for (uint j = 0u; j < kSide; ++j) {
        parts[at + i * kTile + j] = re[i][j];
        parts[at + kTile * kTile + i * kTile + j] = im[i][j];
    }
}

void main() {
    const uint index = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (index >= count) return;
    const uvec2 tile = gram_tile(index % p.tiles, p.across, p.rows, kTile, kTile);
    const uint down = gl_LocalInvocationIndex / kSide, across = gl_LocalInvocationIndex % kSide;
    const uint block = index / p.tiles * p.part_blocks;
    add_blocks(block, min(block + p.part_blocks, p.blocks), tile.x * p.blocks * kBlock + down,
               tile.y * p.blocks * kBlock + across);
    if (kParts > 1u) {
        store_parts(index * 2u * kTile * kTile + down * kSide * kTile + across * kSide);
        return;
    }
    WEFT_UNROLL for (uint i = 0u; i < kSide; ++i) WEFT_UNROLL for (uint j = 0u; j < kSide; ++j)
        re[i][j] = re[i][j] * re[i][j] + im[i][j] * im[i][j];
    const uint row = tile.x * kTile + down * kSide, column = tile.y * kTile + across * kSide;
    if (kScaled) scale_all(row, column);
    if (in_units(row, column))
        store_units(row, column);
    else
        WEFT_UNROLL for (uint i = 0u; i < kSide; ++i) WEFT_UNROLL for (uint j = 0u; j < kSide; ++j)
            gram_store(row + i, column + j, re[i][j]);
}
