// SPDX-License-Identifier: Apache-2.0
// Kernel values of product states: K = product over the qubits of 1 - |r - s|^2 / 4, r and s the Bloch vectors
// of the two samples. This form of the fidelity (1 + r.s) / 2 loses nothing where states are nearly equal: equal
// samples give exactly 1, and exchanging them changes no bit.
// A workgroup takes tiles of 64 x 64 values, an invocation 8 x 4 of them.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shared/kernel_form.h"

layout(local_size_x = 128) in;
layout(constant_id = 2) const uint kParts = 2;  // of a Bloch vector: 2 in a plane, else 3
// Of the lower triangle of tiles each, mirrored into the upper one; else the values [first, first + count) of the
// job's rows, of which the first bound one is `first`.
layout(constant_id = 3) const bool kSymmetric = false;
// Rounding of every factor near 1 adds up over many qubits. There the deviation from 1 is gathered over 16
// qubits, with an error relative to itself, before it is taken from a product of twice the digits.
layout(constant_id = 4) const bool kLong = false;
layout(push_constant) uniform Push {
    uint count;
    uint first;
    KernelProductParameters p;
};
layout(set = 0, binding = 0) readonly buffer Planes { Real planes[]; };
layout(set = 0, binding = 1) writeonly buffer Values { Real values[]; };

const uint kTile = 64, kDepth = 4, kMostParts = 3, kLongDepth = 16;
const uint kRows = 8, kColumns = 4, kAcross = 16;  // of an invocation; invocations side by side

shared Real left[kDepth * kMostParts][kTile];
shared Real right[kDepth * kMostParts][kTile];
shared Real strip[kAcross][kTile + 1];

Real product[kRows][kColumns];
Real rest[kRows][kColumns];       // lower digits of product
Real deviation[kRows][kColumns];  // 1 - product of the qubits gathered

struct Tile {
    uint row, column;            // first
    uint last_row, last_column;  // of the output
};

void load(Tile tile, uint qubit, uint depth) {
    const uint lane = gl_LocalInvocationIndex & (kTile - 1u);
    const bool of_rows = gl_LocalInvocationIndex < kTile;
    const uint at = of_rows ? p.row_base + min(tile.row + lane, tile.last_row)
                            : p.column_base + min(tile.column + lane, tile.last_column);
    for (uint k = 0; k < depth; ++k) {
        const Real cosine = planes[2u * (qubit + k) * p.stride + at];
        const Real sine = planes[(2u * (qubit + k) + 1u) * p.stride + at];
        // Halved. RY alone stays in a plane; RZ by the same angle turns that.
        Real part[kMostParts] = Real[](kHalf * cosine, kHalf * sine, kZero);
        if (kParts == 3u) {
            part[2] = part[1] * sine;
            part[1] = part[1] * cosine;
        }
        [[unroll]] for (uint i = 0; i < kParts; ++i) {
            if (of_rows)
                left[k * kParts + i][lane] = part[i];
            else
                right[k * kParts + i][lane] = part[i];
        }
    }
}

void take_qubit(uint k) {
    const uint row = gl_LocalInvocationIndex / kAcross * kRows, column = gl_LocalInvocationIndex % kAcross;
    Real a[kMostParts][kRows], b[kMostParts][kColumns];
    [[unroll]] for (uint part = 0; part < kParts; ++part) {
        [[unroll]] for (uint i = 0; i < kRows; ++i) a[part][i] = left[k * kParts + part][row + i];
        [[unroll]] for (uint j = 0; j < kColumns; ++j)
            b[part][j] = right[k * kParts + part][column + kAcross * j];
    }
    [[unroll]] for (uint i = 0; i < kRows; ++i)
        [[unroll]] for (uint j = 0; j < kColumns; ++j) {
            precise Real apart = a[0][i] - b[0][j];
            precise Real square = apart * apart;
            [[unroll]] for (uint part = 1; part < kParts; ++part) {
                apart = a[part][i] - b[part][j];
                square = fma(apart, apart, square);
            }
            if (kLong)
                deviation[i][j] = fma(square, kOne - deviation[i][j], deviation[i][j]);
            else
                product[i][j] = fma(-square, product[i][j], product[i][j]);
        }
}

void gather() {
    [[unroll]] for (uint i = 0; i < kRows; ++i)
        [[unroll]] for (uint j = 0; j < kColumns; ++j) {
            precise const Real taken = deviation[i][j] * product[i][j];
            precise const Real taken_rest = fma(deviation[i][j], product[i][j], -taken);
            precise const Real left_over = product[i][j] - taken;
            precise const Real error = (product[i][j] - left_over) - taken;
            rest[i][j] = fma(-deviation[i][j], rest[i][j], rest[i][j]) + (error - taken_rest);
            product[i][j] = left_over;
            deviation[i][j] = kZero;
        }
}

void make_values(Tile tile) {
    [[unroll]] for (uint i = 0; i < kRows; ++i)
        [[unroll]] for (uint j = 0; j < kColumns; ++j) {
            product[i][j] = kOne;
            rest[i][j] = kZero;
            deviation[i][j] = kZero;
        }
    for (uint qubit = 0; qubit < p.qubits; qubit += kDepth) {
        const uint depth = min(kDepth, p.qubits - qubit);
        barrier();
        load(tile, qubit, depth);
        barrier();
        for (uint k = 0; k < depth; ++k) take_qubit(k);
        if (kLong && (qubit + kDepth) % kLongDepth == 0u) gather();
    }
    if (kLong) gather();
#if defined(WEFT_WORK64)
    const Real shrink = packDouble2x32(uvec2(p.shrink_low, p.shrink_high));
#else
    const Real shrink = uintBitsToFloat(p.shrink_low);
#endif
    const uint row = p.row_base + tile.row + gl_LocalInvocationIndex / kAcross * kRows;
    const uint column = p.column_base + tile.column + gl_LocalInvocationIndex % kAcross;
    [[unroll]] for (uint i = 0; i < kRows; ++i)
        [[unroll]] for (uint j = 0; j < kColumns; ++j) {
            if (kLong) {
                product[i][j] += rest[i][j];
                // By bits: drivers make max() of a comparison, and NaN has to stay. Of -0 to minus infinity.
                if (floatBitsToUint(float(product[i][j])) - 0x80000000u <= 0x7f800000u) product[i][j] = kZero;
            }
            if (row + i != column + kAcross * j) product[i][j] *= shrink;
        }
}

// A strip of columns at a time through shared memory, so that neighbours write neighbours: as it is, and across
// the diagonal where `mirrored`. `skipped` values of the first row are not bound.
void store(Tile tile, uint first_row, uint skipped, uint bound, bool mirrored) {
    const uint own_row = gl_LocalInvocationIndex / kAcross * kRows, own = gl_LocalInvocationIndex % kAcross;
    [[unroll]] for (uint j = 0; j < kColumns; ++j) {
        barrier();
        [[unroll]] for (uint i = 0; i < kRows; ++i) strip[own][own_row + i] = product[i][j];
        barrier();
        const uint from = tile.column + kAcross * j;
        for (uint k = gl_LocalInvocationIndex; k < kAcross * kTile; k += gl_WorkGroupSize.x) {
            const uint row = tile.row + k / kAcross, column = from + k % kAcross;
            const uint at = (row - first_row) * p.columns + column - skipped;
            if (row <= tile.last_row && column <= tile.last_column && at < bound)
                values[p.out_base + at] = strip[k % kAcross][k / kAcross];
        }
        if (!mirrored) continue;
        for (uint k = gl_LocalInvocationIndex; k < kAcross * kTile; k += gl_WorkGroupSize.x) {
            const uint row = from + k / kTile, column = tile.row + k % kTile;
            if (row <= tile.last_column && column <= tile.last_row)
                values[p.out_base + row * p.columns + column] = strip[k / kTile][k % kTile];
        }
    }
}

void symmetric_tiles() {
    for (uint t = gl_WorkGroupID.x; t < count; t += gl_NumWorkGroups.x) {
        uint row = uint((sqrt(8.0 * float(t) + 1.0) - 1.0) * 0.5);
        if (row * (row + 1u) / 2u > t) --row;
        if ((row + 1u) * (row + 2u) / 2u <= t) ++row;
        const uint column = t - row * (row + 1u) / 2u;
        const Tile tile = Tile(row * kTile, column * kTile, p.rows - 1u, p.rows - 1u);
        make_values(tile);
        store(tile, 0u, 0u, 0xffffffffu, row != column);
    }
}

void plain_tiles() {
    const uint first_row = first / p.columns, skipped = first - first_row * p.columns;
    const uint rows = (skipped + count + p.columns - 1u) / p.columns;
    const uint across = (p.columns + kTile - 1u) / kTile, tiles = (rows + kTile - 1u) / kTile * across;
    for (uint t = gl_WorkGroupID.x; t < tiles; t += gl_NumWorkGroups.x) {
        const uint down = t / across;
        const Tile tile = Tile(first_row + down * kTile, (t - down * across) * kTile, first_row + rows - 1u,
                               p.columns - 1u);
        make_values(tile);
        store(tile, first_row, skipped, count, false);
    }
}

void main() {
    if (kSymmetric)
        symmetric_tiles();
    else
        plain_tiles();
}
