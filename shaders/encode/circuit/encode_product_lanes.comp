// SPDX-License-Identifier: Apache-2.0
// Makes the same states as encode_product.comp, for devices that load and store lane by lane (see
// shaders/kernel_matrix/kernel_product_lanes.comp). Every invocation makes a slab by itself: it multiplies the factors
// of the low qubits once, and the 16 products by those of the other qubits as often as the slab has 16 amplitudes.
#version 450
#extension GL_GOOGLE_include_directive : require
#define WEFT_TURNS_BY_SHIFTS
#include "shaders/encode/encode_interface.glsl.h"

layout(local_size_x_id = 0) in;
layout(constant_id = 2) const uint kMethod = 0;
layout(constant_id = 3) const uint kSlabBits = 10;  // amplitudes of a slab, as a power of two: 4 to 10
layout(push_constant) uniform Push {
    uint count;
    uint first;
    EncodeParameters p;
};
layout(set = 0, binding = 0) readonly buffer Values { Raw values[]; };
layout(set = 0, binding = 1) writeonly buffer States { uvec4 states[]; };
layout(set = 0, binding = 2) writeonly buffer Status { uvec2 status[]; };
#include "encode_factors.glsl.h"

const uint kLowBits = 4u, kLow = 1u << kLowBits, kMostSlabBits = 10u;
Complex zero_of[kMostSlabBits], one_of[kMostSlabBits];  // factors of the qubits within a slab
Complex low[kLow];                                      // products of the factors of the lowest qubits
Complex outside;                                        // the product of the factors of the qubits above the slab

Complex chosen(bool second, Complex zero, Complex one) {
    return complex(second ? one.re : zero.re, second ? one.im : zero.im);
}

// Makes the factors of a sample whose values begin at `begin`, and returns its status. The loop has one copy of the
// sine, which is long.
uvec2 make_factors(uint begin, uint block) {
    uvec2 result = uvec2(kEncodeGood, 0u);
    outside = complex(kOne, kZero);
    for (uint k = p.qubits; k-- > 0u;) {
        const Raw raw = values[begin + k];
        const uint fault = fault_of(raw);
        if (fault != kEncodeGood) result = uvec2(fault, k);
        Complex zero, one;
        factors_of(raw, k, zero, one);
        if (k >= kSlabBits) outside = both(outside, chosen(((block >> (k - kSlabBits)) & 1u) != 0u, zero, one));
        WEFT_UNROLL for (uint i = 0u; i < kSlabBits; ++i) {
            zero_of[i] = chosen(i == k, zero_of[i], zero);
            one_of[i] = chosen(i == k, one_of[i], one);
        }
    }
    return result;
}

void make_low(bool good) {
    low[0] = complex(kOne, kZero);
    // Mesa unrolls an inner loop only if its bounds are constants.
    WEFT_UNROLL for (uint k = 0u; k < kLowBits; ++k) WEFT_UNROLL for (uint i = 0u; i < kLow / 2u; ++i)
        if (i < 1u << k) {
            low[i + (1u << k)] = both(low[i], one_of[k]);
            low[i] = both(low[i], zero_of[k]);
        }
    WEFT_UNROLL for (uint i = 0u; i < kLow; ++i) low[i] = chosen(good, complex(kZero, kZero), low[i]);
}

// Stores the products of `low` with `above`: 16 amplitudes from amplitude 16 * at on.
void store_low(uint at, Complex above) {
    WEFT_UNROLL for (uint i = 0u; i < kLow; i += 2u) {
        const Complex a = both(low[i], above), b = both(low[i + 1u], above);
        if (kStoreWide) {
            states[at * kLow + i] = packed(a, a);
            states[at * kLow + i + 1u] = packed(b, b);
        } else {
            states[at * (kLow / 2u) + i / 2u] = packed(a, b);
        }
    }
}

// The amplitudes of slab `slab` of the dispatch. States of a row with a fault become zeros.
void store(uint slab, bool good) {
    make_low(good);
    uint at = slab << (kSlabBits - kLowBits);
    for (uint i = 0u; i < 1u << (kSlabBits - kLowBits); ++i, ++at) {
        Complex above = chosen(good, complex(kZero, kZero), outside);
        WEFT_UNROLL for (uint k = kLowBits; k < kSlabBits; ++k)
            above = both(above, chosen(((i >> (k - kLowBits)) & 1u) != 0u, zero_of[k], one_of[k]));
        if (!good) above = complex(kZero, kZero);
        store_low(at, above);
    }
}

void main() {
    const uint block_bits = p.qubits - kSlabBits;
    const uint share = (count + gl_WorkGroupSize.x - 1u) / gl_WorkGroupSize.x;
    const bool by_row = (p.flags & kEncodeStatusByRow) != 0u;
    for (uint i = gl_WorkGroupID.x; i < share; i += gl_NumWorkGroups.x) {
        const uint slab = gl_LocalInvocationIndex * share + i;
        if (slab >= count) continue;
        const uint element = p.base + first + slab, row = element >> block_bits;
        const uint block = element & ((1u << block_bits) - 1u);
        const uvec2 found = make_factors(p.in_base + row * p.qubits, block);
        if (!by_row || block == 0u) status[by_row ? p.row_base + row : slab] = found;
        if ((p.flags & kEncodeCheckOnly) == 0u) store(slab, found.x == kEncodeGood);
    }
}
