// SPDX-License-Identifier: Apache-2.0
// Sums over features, as operator_scatter.comp defines them. Needs its push constants and buffers from the
// shader. No include guard: read once for each kernel.
#include "operator_features.glsl.h"

WEFT_CONST uint kSide = 4, kAcross = kTile / kSide;
WEFT_GROUP(Real, low, kStep* kTile);      // [low feature][row]
WEFT_GROUP(Real, weight, kStep* kTile);   // [low feature][high feature]
WEFT_GROUP(Real, parts, kTile* kAcross);  // [row][group of high features]

// Numbers of the rows, of which samples of so few features have at most 36. Rows are an odd number of values
// apart, so that they are in different banks.
WEFT_CONST uint kApart = 37;
WEFT_GROUP(Real, own, kTile* kApart);

// A feature of one side of a row, whose qubits begin at `from`.
WEFT_GPU Real feature(uint row, uint from, uint qubits, uint f) {
    Real value = kOne;
    uint at = row * kApart + from * p.of_qubit, rest = f;
    for (uint q = 0; q < qubits; ++q, at += p.of_qubit) {
        const uint next = without_digit(rest), digit = rest - next * (p.of_qubit + 1u);
        if (digit != 0u) value *= own[at + digit - 1u];
        rest = next;
    }
    return value;
}

WEFT_MAIN() {
    const uint workgroup = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (workgroup >= count) return;
    const uint first_row = workgroup * kTile, lane = gl_LocalInvocationIndex % kTile;
    const uint down = gl_LocalInvocationIndex / kAcross * kSide,
               across = gl_LocalInvocationIndex % kAcross * kSide;
    for (uint i = gl_LocalInvocationIndex; i < kTile * p.numbers; i += 2u * kTile) {
        const uint row = i / p.numbers, k = i - row * p.numbers;
        own[row * kApart + k] = samples[min(first_row + row, p.rows - 1u) * p.numbers + k];
    }
    Real sum[kSide][kSide], total[kSide];
    WEFT_UNROLL for (uint i = 0; i < kSide; ++i) total[i] = kZero;
    for (uint first_high = 0; first_high < p.high_count; first_high += kTile) {
        WEFT_UNROLL for (uint i = 0; i < kSide; ++i) WEFT_UNROLL for (uint j = 0; j < kSide; ++j) sum[i][j] =
            kZero;
        for (uint from = 0; from < p.low_count; from += kStep) {
            barrier();
            for (uint s = gl_LocalInvocationIndex / kTile; s < kStep; s += 2u) {
                const uint l = from + s, h = first_high + lane;
                low[s * kTile + lane] = feature(lane, 0u, p.low_qubits, l);
                const uint at = min(h, p.high_count - 1u) * p.low_count + min(l, p.low_count - 1u);
                weight[s * kTile + lane] = l < p.low_count && h < p.high_count ? weights[at] : kZero;
            }
            barrier();
            for (uint s = 0; s < kStep; ++s) {
                Real a[kSide], b[kSide];
                WEFT_UNROLL for (uint i = 0; i < kSide; ++i) {
                    a[i] = low[s * kTile + down + i];
                    b[i] = weight[s * kTile + across + i];
                }
                WEFT_UNROLL for (uint i = 0; i < kSide; ++i) WEFT_UNROLL for (uint j = 0; j < kSide; ++j)
                    sum[i][j] = fma(a[i], b[j], sum[i][j]);
            }
        }
        WEFT_UNROLL for (uint i = 0; i < kSide; ++i) WEFT_UNROLL for (uint j = 0; j < kSide; ++j) total[i] =
            fma(feature(down + i, p.low_qubits, p.high_qubits, first_high + across + j), sum[i][j], total[i]);
    }
    WEFT_UNROLL for (uint i = 0; i < kSide; ++i) parts[(down + i) * kAcross + across / kSide] = total[i];
    barrier();
    if (gl_LocalInvocationIndex < kTile && first_row + gl_LocalInvocationIndex < p.rows) {
        Real all = kZero;
        for (uint i = 0; i < kAcross; ++i) all += parts[gl_LocalInvocationIndex * kAcross + i];
        sums[first_row + gl_LocalInvocationIndex] = all;
    }
}
