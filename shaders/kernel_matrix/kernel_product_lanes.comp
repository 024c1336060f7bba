// SPDX-License-Identifier: Apache-2.0
// Computes the same as kernel_product.comp, for devices that load and store lane by lane, as software devices do: there
// an access to shared memory costs more than the arithmetic on the value. An invocation has 8 x 8 values in registers
// and reads eight samples in one access; a workgroup computes tiles of 64 x 64. Up to 32 qubits in float.
#version 450
#extension GL_GOOGLE_include_directive : require
#define WEFT_FLOAT64  // words of eight bytes are what such devices load fastest
#include "kernel_interface.glsl.h"
#include "shaders/shared/lane_units.glsl.h"

layout(local_size_x = 64) in;
layout(constant_id = 2) const bool kRz = false;          // as in kernel_product.comp
layout(constant_id = 3) const bool kSymmetric = false;   // as in kernel_product.comp
// Values in one store: 8, 2 or 1. The length of the rows of a symmetric K is a multiple of it.
layout(constant_id = 5) const uint kTogether = 1;
layout(push_constant) uniform Push {
    uint count;
    uint first;
    KernelProductParameters p;
};
layout(set = 0, binding = 0) readonly buffer Planes { dvec4 planes[]; };
#if defined(WEFT_TIMES)  // as in kernel_product.comp; value by value
layout(set = 0, binding = 1) buffer Values { Real values[]; };
#else
layout(set = 0, binding = 1) writeonly buffer Values { Real values[]; };
layout(set = 0, binding = 1) writeonly buffer Pairs { double pairs[]; };
layout(set = 0, binding = 1) writeonly buffer Eights { dvec4 eights[]; };
#endif

const uint kSide = kUnitFloats, kTile = 64, kParts = 2;
Real a[kParts][kSide], b[kParts][kSide], product[kSide][kSide];

// Half of the cosines and sines of eight samples from `at` on, which is a multiple of 8, as is the length of a plane.
#if defined(WEFT_REAL64)
const uint kUnits = 2;  // of four doubles
Real element(dvec4 units[kUnits], uint e) {
    return units[e / 4u][e % 4u];
}
#else
const uint kUnits = 1;
Real element(dvec4 units[kUnits], uint e) {
    return unit_element(units[0], e);
}
#endif
void take(uint at, uint qubit, out Real halves[kParts][kSide]) {
    const uint of_plane = p.stride / kSide * kUnits, from = 2u * qubit * of_plane + at / kSide * kUnits;
    dvec4 cosines[kUnits], sines[kUnits];
    WEFT_UNROLL for (uint i = 0; i < kUnits; ++i) {
        cosines[i] = planes[from + i];
        sines[i] = planes[from + of_plane + i];
    }
    WEFT_UNROLL for (uint e = 0; e < kSide; ++e) {
        halves[0][e] = kHalf * element(cosines, e);
        halves[1][e] = kHalf * element(sines, e);
    }
}

// Computes the values of eight samples from `row` on and eight from `column` on; both are multiples of 8.
void make_values(uint row, uint column) {
    const uint last = p.stride - kSide;
    WEFT_UNROLL for (uint i = 0; i < kSide; ++i) WEFT_UNROLL for (uint j = 0; j < kSide; ++j) product[i][j] = kOne;
    for (uint qubit = 0; qubit < p.qubits; ++qubit) {
        take(min(row, last), qubit, a);
        take(min(column, last), qubit, b);
        WEFT_UNROLL for (uint i = 0; i < kSide; ++i) WEFT_UNROLL for (uint j = 0; j < kSide; ++j) {
            WEFT_PRECISE Real apart = a[0][i] - b[0][j];
            WEFT_PRECISE Real square = apart * apart;
            apart = a[1][i] - b[1][j];
            square = fma(apart, apart, square);
            if (kRz) {
                WEFT_PRECISE const Real further = fma(a[1][i], Real(4.0f) * b[1][j], kOne);
                square *= further;
            }
            product[i][j] = fma(-square, product[i][j], product[i][j]);
        }
    }
#if defined(WEFT_REAL64)
    const Real shrink = packDouble2x32(uvec2(p.shrink_low, p.shrink_high));
#else
    const Real shrink = uintBitsToFloat(p.shrink_low);
#endif
    WEFT_UNROLL for (uint i = 0; i < kSide; ++i) WEFT_UNROLL for (uint j = 0; j < kSide; ++j)
        if (row + i != column + j) product[i][j] *= shrink;
}

#if defined(WEFT_REAL64)
dvec4 unit_of(Real of[kSide], uint i) {
    return dvec4(of[4u * i], of[4u * i + 1u], of[4u * i + 2u], of[4u * i + 3u]);
}
#else
dvec4 unit_of(Real of[kSide], uint) {
    return unit_of(of);
}
#endif

void put(uint at, Real value) {
#if defined(WEFT_TIMES)
    value *= values[at];
#endif
    values[at] = value;
}

// Stores the first `valid` of eight values side by side, from value `at` on.
void store(uint at, Real of[kSide], uint valid) {
#if !defined(WEFT_TIMES)
    if (kTogether == kSide) {
        WEFT_UNROLL for (uint i = 0; i < kUnits; ++i) eights[at / kSide * kUnits + i] = unit_of(of, i);
        return;
    }
#if !defined(WEFT_REAL64)
    if (kTogether == 2u) {
        WEFT_UNROLL for (uint i = 0; i < kSide / 2u; ++i)
            if (2u * i < valid) pairs[at / 2u + i] = pair_of(of, i);
        return;
    }
#endif
#endif
    WEFT_UNROLL for (uint i = 0; i < kSide; ++i)
        if (i < valid) put(at + i, of[i]);
}

// There is no loop around a tile, because software devices run code after a loop under masks.
void symmetric_tile(uint t, uint down, uint across) {
    if (t >= count) return;
    uint tile_row = uint((sqrt(8.0f * float(t) + 1.0f) - 1.0f) * 0.5f);
    if (tile_row * (tile_row + 1u) / 2u > t) --tile_row;
    if ((tile_row + 1u) * (tile_row + 2u) / 2u <= t) ++tile_row;
    const uint row = tile_row * kTile + down, column = (t - tile_row * (tile_row + 1u) / 2u) * kTile + across;
    if (row >= p.rows || column > row) return;
    make_values(row, column);
    WEFT_UNROLL for (uint i = 0; i < kSide; ++i)
        if (row + i < p.rows) store(p.out_base + (row + i) * p.rows + column, product[i], p.rows - column);
    if (row == column) return;
    WEFT_UNROLL for (uint j = 0; j < kSide; ++j) {
        Real mirrored[kSide];
        WEFT_UNROLL for (uint i = 0; i < kSide; ++i) mirrored[i] = product[i][j];
        store(p.out_base + (column + j) * p.rows + row, mirrored, p.rows - row);
    }
}

void plain_tiles(uint down, uint across) {
    const uint first_row = first / p.columns, skipped = first - first_row * p.columns;
    // Samples are read from multiples of 8 on; values of rows before the first one are not stored.
    const uint before = (p.row_base + first_row) % kSide;
    const uint rows = before + (skipped + count + p.columns - 1u) / p.columns;
    const uint tiles_across = (p.columns + kTile - 1u) / kTile, tiles = (rows + kTile - 1u) / kTile * tiles_across;
    for (uint t = gl_WorkGroupID.x; t < tiles; t += gl_NumWorkGroups.x) {
        const uint row = t / tiles_across * kTile + down, column = t % tiles_across * kTile + across;
        if (row >= rows || column >= p.columns) continue;
        make_values(p.row_base + first_row - before + row, p.column_base + column);
        WEFT_UNROLL for (uint i = 0; i < kSide; ++i) WEFT_UNROLL for (uint j = 0; j < kSide; ++j) {
            const uint at = (row + i - before) * p.columns + column + j - skipped;
            if (row + i >= before && column + j < p.columns && at < count) put(p.out_base + at, product[i][j]);
        }
    }
}

void main() {
    const uint down = gl_LocalInvocationIndex / kSide * kSide, across = gl_LocalInvocationIndex % kSide * kSide;
    if (kSymmetric)
        symmetric_tile(gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x, down, across);
    else
        plain_tiles(down, across);
}
