// SPDX-License-Identifier: Apache-2.0
// amplitude: a row divided by its Euclidean norm, zeros behind it. A workgroup makes a state; it keeps what it can of
// the row while it sums the squares, so that rows of up to 2 kKept values an invocation are read once.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shared/encode_form.h"

layout(local_size_x_id = 0) in;
layout(push_constant) uniform Push {
    uint count;
    uint first;
    EncodeParameters p;
};
layout(set = 0, binding = 0) readonly buffer Values { Raw values[]; };
#if defined(WEFT_IN64)
#define RawPair uvec4
#else
#define RawPair uvec2
#endif
layout(set = 0, binding = 0) readonly buffer ValuePairs { RawPair value_pairs[]; };
layout(set = 0, binding = 1) writeonly buffer States { uvec4 states[]; };
layout(set = 0, binding = 2) writeonly buffer Status { uvec2 status[]; };

layout(constant_id = 2) const uint kKept = 8;  // pairs an invocation holds in registers
uint row_begin;

Raw value_at(uint i) { return values[row_begin + i]; }
#include "shared/encode_norm.h"

#if defined(WEFT_IN64)
Raw first_of(RawPair pair) { return pair.xy; }
Raw second_of(RawPair pair) { return pair.zw; }
#else
Raw first_of(RawPair pair) { return pair.x; }
Raw second_of(RawPair pair) { return pair.y; }
#endif

// Values 2 j and 2 j + 1 of the row; 0 behind its end.
RawPair load_pair(uint j) {
    if (2 * j >= p.features) return RawPair(0u);
    if ((p.flags & kEncodePaired) != 0u) return value_pairs[row_begin / 2 + j];
    if (2 * j + 1 < p.features) return RawPair(value_at(2 * j), value_at(2 * j + 1));
#if defined(WEFT_IN64)
    return RawPair(value_at(2 * j), 0u, 0u);
#else
    return RawPair(value_at(2 * j), 0u);
#endif
}

void store_pair(uint to, uint j, RawPair pair, int exponent, Real scale) {
    precise Real a = value_of(first_of(pair), exponent) * scale;
    precise Real b = value_of(second_of(pair), exponent) * scale;
    if (kStoreWide) {
        states[to + 2 * j] = packed(complex(a, kZero), complex(a, kZero));
        states[to + 2 * j + 1] = packed(complex(b, kZero), complex(b, kZero));
    } else {
        states[to + j] = packed(complex(a, kZero), complex(b, kZero));
    }
}

void main() {
    const uint lane = gl_LocalInvocationIndex, lanes = gl_WorkGroupSize.x;
    const uint pairs = 1u << (p.qubits - 1), used = (p.features + 1) / 2;
    for (uint row = gl_WorkGroupID.x; row < count; row += gl_NumWorkGroups.x) {
        row_begin = p.in_base + row * p.features;
        RawPair kept[kKept];
        Norm norm;
        norm.sum = kZero;
        norm.rest = kZero;
        norm.exponent = kPlain;
        norm.fault = kEncodeGood;
        norm.position = 0u;
        WEFT_UNROLL for (uint k = 0; k < kKept; ++k) {
            kept[k] = load_pair(lane + k * lanes);
            add_square(norm.sum, norm.rest, plain(first_of(kept[k])));
            add_square(norm.sum, norm.rest, plain(second_of(kept[k])));
        }
        for (uint j = lane + kKept * lanes; j < used; j += lanes) {
            const RawPair pair = load_pair(j);
            add_square(norm.sum, norm.rest, plain(first_of(pair)));
            add_square(norm.sum, norm.rest, plain(second_of(pair)));
        }
        reduce_sum(norm.sum, norm.rest);
        if (!sums_exactly(norm.sum)) norm = norm_with_care(p.features);
        if (lane == 0) status[p.row_base + row] = uvec2(norm.fault, norm.position);
        if ((p.flags & kEncodeCheckOnly) != 0u) continue;
        const bool good = norm.fault == kEncodeGood;
        const Real scale = good ? inverse_root(norm.sum, norm.rest) : kZero;
        const uint to = row << (p.qubits - (kStoreWide ? 0u : 1u));
        WEFT_UNROLL for (uint k = 0; k < kKept; ++k) {
            const uint j = lane + k * lanes;
            if (j < pairs) store_pair(to, j, good ? kept[k] : RawPair(0u), norm.exponent, scale);
        }
        for (uint j = lane + kKept * lanes; j < pairs; j += lanes)
            store_pair(to, j, good ? load_pair(j) : RawPair(0u), norm.exponent, scale);
    }
}
