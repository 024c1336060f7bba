// SPDX-License-Identifier: Apache-2.0
// angle, phase and iqp-z: every amplitude is the product of one factor for each qubit, selected by the
// qubit's bit of the index. A workgroup makes one slab, or as many small states as a slab holds. Needs
// encode_interface.glsl.h, and the push constants and buffers of encode_product.comp from the shader. No
// include guard: read once for each kernel.

WEFT_CONST uint kPairBits = kStoreWide ? 0u : 1u;  // bits of the index within a store of 16 bytes
WEFT_CONST uint kPassBits = 4u - kPairBits;        // an invocation has 2^kPassBits passes in store_alone()
WEFT_CONST uint kMostFactors = 256;                // most rows * qubits of a workgroup
WEFT_CONST uint kMostUpper = 512;                  // most rows * passes of a workgroup

WEFT_GROUP(Complex, factors, 2 * kMostFactors);  // bit b of qubit k of row r: [2 * (r * qubits + k) + b]
WEFT_GROUP(Complex, upper, kMostUpper);        // pass i of row r: the product over the bits that a pass fixes
WEFT_GROUP(uint, bad_position, kMostFactors);  // by row
WEFT_GROUP(uint, bad_fault, kMostFactors);
WEFT_GROUP_ONE(uint, any_bad);

#include "encode_factors.glsl.h"

WEFT_GPU void make_factors(uint at, Raw raw) {
    Complex zero, one;
    factors_of(raw, at % p.qubits, zero, one);
    factors[2 * at] = zero;
    factors[2 * at + 1] = one;
}

WEFT_GPU Complex times(Complex product, uint row, uint qubit, uint bit) {
    return both(product, factors[2 * (row * p.qubits + qubit) + (bit & 1u)]);
}

// Makes the factors of `rows` states from `row` on, and finds values that are not finite. The load of the
// first value of each invocation overlaps with the writes of others.
WEFT_GPU void load(uint row, uint rows) {
    const uint begin = p.in_base + row * p.qubits;
    for (uint r = gl_LocalInvocationIndex; r < rows; r += gl_WorkGroupSize.x) {
        bad_position[r] = 0u;
        bad_fault[r] = kEncodeGood;
    }
    if (gl_LocalInvocationIndex == 0) any_bad = 0u;
    const uint first_at = min(gl_LocalInvocationIndex, rows * p.qubits - 1u);
    Raw raw = values[begin + first_at];
    barrier();
    for (uint at = gl_LocalInvocationIndex; at < rows * p.qubits; at += gl_WorkGroupSize.x) {
        if (at >= gl_WorkGroupSize.x) raw = values[begin + at];
        if (fault_of(raw) != kEncodeGood)
            any_bad = 1u;
        else
            make_factors(at, raw);
    }
    barrier();
    if (any_bad != 0u) {
        for (uint r = gl_LocalInvocationIndex; r < rows; r += gl_WorkGroupSize.x)
            for (uint k = p.qubits; k-- > 0u;) {
                const uint fault = fault_of(values[begin + r * p.qubits + k]);
                if (fault == kEncodeGood) continue;
                bad_fault[r] = fault;
                bad_position[r] = k;
            }
        barrier();
    }
}

// The product of the factors of qubits [from, to) for the low bits of `index`, by two chains whose latencies
// overlap.
WEFT_GPU Complex product_of(uint row, uint from, uint to, uint index) {
    Complex even = complex(kOne, kZero), odd = even;
    for (uint k = from; k < to; k += 2u, index >>= 2u) {
        even = times(even, row, k, index);
        if (k + 1u < to) odd = times(odd, row, k + 1u, index >> 1);
    }
    return both(even, odd);
}

// Like store(), for a slab of one state, but without another barrier: every invocation multiplies the factors
// of the passes itself.
WEFT_GPU void store_alone(uint from, uint block) {
    const uint lane = gl_LocalInvocationIndex, lane_bits = findMSB(gl_WorkGroupSize.x);
    const uint pass_at = lane_bits + kPairBits;
    const Complex all =
        both(product_of(0u, kPairBits, pass_at, lane), product_of(0u, p.slab_bits, p.qubits, block));
    const Complex zero = kStoreWide ? all : times(all, 0u, 0u, 0u),
                  one = kStoreWide ? all : times(all, 0u, 0u, 1u);
    const bool good = bad_fault[0] == kEncodeGood;
    uint at = (from << (p.slab_bits - kPairBits)) + lane;
    Complex zero_above = zero, one_above = one;
    WEFT_UNROLL for (uint pass = 0; pass < 1u << kPassBits; ++pass, at += gl_WorkGroupSize.x) {
        if (pass % 4u == 0u) {
            zero_above = zero, one_above = one;
            for (uint k = 2u; k < kPassBits; ++k) {
                zero_above = times(zero_above, 0u, pass_at + k, pass >> k);
                one_above = times(one_above, 0u, pass_at + k, pass >> k);
            }
        }
        const Complex low = times(factors[2u * pass_at + pass % 2u], 0u, pass_at + 1u, pass >> 1);
        states[at] = good ? packed(both(zero_above, low), both(one_above, low)) : uvec4(0u);
    }
}

// From its low bits on, the index of an amplitude has these parts: place in a store, invocation within the
// row, pass, block.
WEFT_GPU void store(uint from, uint rows, uint block) {
    const uint bits = min(p.qubits, p.slab_bits), lane = gl_LocalInvocationIndex;
    const uint lane_bits = findMSB(gl_WorkGroupSize.x) - (p.slab_bits - bits),
               fixed_bits = lane_bits + kPairBits;
    const uint pass_bits = bits - fixed_bits, passes = 1u << pass_bits;
    for (uint at = lane; at < rows << pass_bits; at += gl_WorkGroupSize.x) {
        const uint index = (at & (passes - 1u)) | (block << pass_bits);
        upper[at] = product_of(at >> pass_bits, fixed_bits, p.qubits, index);
    }
    const uint row = min(lane >> lane_bits, rows - 1u), place = lane & ((1u << lane_bits) - 1u);
    const Complex low = product_of(row, kPairBits, fixed_bits, place);
    const Complex zero = kStoreWide ? low : times(low, row, 0, 0),
                  one = kStoreWide ? low : times(low, row, 0, 1);
    const bool good = bad_fault[row] == kEncodeGood;
    barrier();
    if (lane >> lane_bits >= rows) return;
    uint at = ((from + row) << (bits - kPairBits)) + place;
    for (uint pass = 0; pass < passes; ++pass, at += 1u << lane_bits) {
        const Complex above = upper[(row << pass_bits) + pass];
        states[at] = good ? packed(both(zero, above), both(one, above)) : uvec4(0u);
    }
}

WEFT_MAIN() {
    const bool slabs = p.qubits >= p.slab_bits;
    const uint per_workgroup = slabs ? 1u : 1u << (p.slab_bits - p.qubits);
    const uint block_bits = slabs ? p.qubits - p.slab_bits : 0u;
    for (uint workgroup = gl_WorkGroupID.x; workgroup * per_workgroup < count;
         workgroup += gl_NumWorkGroups.x) {
        const uint from = workgroup * per_workgroup, rows = min(per_workgroup, count - from);
        const uint element = p.base + first + from, row = element >> block_bits;
        const uint block = element & ((1u << block_bits) - 1u);
        load(row, rows);
        const bool by_row = (p.flags & kEncodeStatusByRow) != 0u;
        for (uint r = gl_LocalInvocationIndex; r < rows; r += gl_WorkGroupSize.x)
            if (!by_row || block == 0u)
                status[(by_row ? p.row_base + row : from) + r] = uvec2(bad_fault[r], bad_position[r]);
        if ((p.flags & kEncodeCheckOnly) == 0u) {
            if (kAlone)
                store_alone(from, block);
            else
                store(from, rows, block);
        }
        barrier();
    }
}
