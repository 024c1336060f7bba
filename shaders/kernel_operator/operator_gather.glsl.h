// SPDX-License-Identifier: Apache-2.0
// Sums over samples of features times V, as operator_gather.comp defines them. Needs its push constants and
// buffers from the shader. No include guard: read once for each kernel.
#include "operator_features.glsl.h"

WEFT_CONST uint kSide = 4, kSamplesOfSum = 64;
WEFT_GROUP(Real, high, kStep* kTile);
WEFT_GROUP(Real, low, kStep* kTile);
Real made[kStep];

// One feature of kStep samples from `at` on. Its digits are taken apart once for all of them.
WEFT_GPU void make_features(uint at, uint from, uint qubits, uint f) {
    WEFT_UNROLL for (uint s = 0; s < kStep; ++s) made[s] = kOne;
    uint rest = f, of_qubit = from * p.of_qubit;
    for (uint q = 0; q < qubits; ++q, of_qubit += p.of_qubit) {
        const uint next = without_digit(rest), digit = rest - next * (p.of_qubit + 1u);
        rest = next;
        if (digit == 0u) continue;
        WEFT_UNROLL for (uint s = 0; s < kStep; ++s) made[s] *=
            samples[min(at + s, p.rows - 1u) * p.numbers + of_qubit + digit - 1u];
    }
}

WEFT_MAIN() {
    const uint workgroup = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (workgroup >= count) return;
    const uint tiles_low = (p.low_count + kTile - 1u) / kTile,
               tiles_high = (p.high_count + kTile - 1u) / kTile;
    const uint tile = workgroup % (tiles_low * tiles_high), split = workgroup / (tiles_low * tiles_high);
    const uint first_high = tile / tiles_low * kTile, first_low = tile % tiles_low * kTile;
    const uint lane = gl_LocalInvocationIndex % kTile;
    const bool of_high = gl_LocalInvocationIndex >= kTile;
    const uint down = gl_LocalInvocationIndex / 8u * kSide, across = gl_LocalInvocationIndex % 8u * kSide;
    Real sum[kSide][kSide], total[kSide][kSide];
    WEFT_UNROLL for (uint i = 0; i < kSide; ++i) WEFT_UNROLL for (uint j = 0; j < kSide; ++j) total[i][j] =
        kZero;
    const uint begin = split * p.split, end = min(begin + p.split, p.rows);
    for (uint block = begin; block < end; block += kSamplesOfSum) {
        WEFT_UNROLL for (uint i = 0; i < kSide; ++i) WEFT_UNROLL for (uint j = 0; j < kSide; ++j) sum[i][j] =
            kZero;
        for (uint from = block; from < min(block + kSamplesOfSum, end); from += kStep) {
            barrier();
            if (of_high) {
                make_features(from, p.low_qubits, p.high_qubits, first_high + lane);
                WEFT_UNROLL for (uint s = 0; s < kStep; ++s) high[s * kTile + lane] =
                    from + s < end ? v[p.in_base + min(from + s, p.rows - 1u) * p.width] * made[s] : kZero;
            } else {
                make_features(from, 0u, p.low_qubits, first_low + lane);
                WEFT_UNROLL for (uint s = 0; s < kStep; ++s) low[s * kTile + lane] = made[s];
            }
            barrier();
            for (uint s = 0; s < kStep; ++s) {
                Real a[kSide], b[kSide];
                WEFT_UNROLL for (uint i = 0; i < kSide; ++i) {
                    a[i] = high[s * kTile + down + i];
                    b[i] = low[s * kTile + across + i];
                }
                WEFT_UNROLL for (uint i = 0; i < kSide; ++i) WEFT_UNROLL for (uint j = 0; j < kSide; ++j)
                    sum[i][j] = fma(a[i], b[j], sum[i][j]);
            }
        }
        WEFT_UNROLL for (uint i = 0; i < kSide; ++i) WEFT_UNROLL for (uint j = 0; j < kSide; ++j)
            total[i][j] += sum[i][j];
    }
    WEFT_UNROLL for (uint i = 0; i < kSide; ++i) WEFT_UNROLL for (uint j = 0; j < kSide; ++j) {
        const uint h = first_high + down + i, l = first_low + across + j;
        if (h < p.high_count && l < p.low_count)
            sums[(split * p.high_count + h) * p.low_count + l] = total[i][j];
    }
}
