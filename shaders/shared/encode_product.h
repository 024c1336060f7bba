// SPDX-License-Identifier: Apache-2.0
// angle, phase and iqp-z: every amplitude is the product of one factor a qubit, chosen by that qubit's bit of
// the index. A workgroup makes one slab, or as many small states as a slab holds. Needs encode_form.h, and
// the push constants and buffers of encode_product.comp from the shader. No include guard: read once for each
// kernel.

WEFT_CONST uint kPerStore = kStoreWide ? 1u : 2u;
WEFT_CONST uint kMostFactors = 512;  // of a slab: rows * qubits

WEFT_GROUP(Complex, factors, 2 * kMostFactors);  // of qubit k of row r, for bit b: [2 * (r * qubits + k) + b]
WEFT_GROUP(Complex, upper, 16);                  // product over the bits that one pass over the slab fixes
WEFT_GROUP(uint, bad_position, kMostFactors);    // by row
WEFT_GROUP(uint, bad_fault, kMostFactors);
WEFT_GROUP_ONE(uint, any_bad);

WEFT_GPU void make_factors(uint at, Raw raw) {
    const SinCos a = sincos_of(raw);
    Complex zero, one;
    if (kMethod == kEncodeAngle) {
        zero = complex(a.cosine, kZero);
        one = complex(a.sine, kZero);
    } else if (kMethod == kEncodePhase) {
        // 2^-n/2 is one factor 2^-1 in every second qubit, and sqrt(1/2) in the last of an odd number.
        const uint k = at % p.qubits;
        Real scale = (k & 1u) != 0u ? kHalf : kOne;
#if defined(WEFT_WORK64)
        if (k + 1u == p.qubits && (k & 1u) == 0u) scale = WEFT_F64(0x3fe6a09eu, 0x667f3bcdu);
#else
        if (k + 1u == p.qubits && (k & 1u) == 0u) scale = 0.70710678f;
#endif
        zero = complex(scale, kZero);
        one = complex(scale * a.cosine, scale * a.sine);
    } else {
        zero = complex(kHalf + kHalf * a.cosine, kHalf * a.sine);
        one = complex(kHalf - kHalf * a.cosine, -kHalf * a.sine);
    }
    factors[2 * at] = zero;
    factors[2 * at + 1] = one;
}

WEFT_GPU Complex times(Complex product, uint row, uint qubit, uint bit) {
    const Complex f = factors[2 * (row * p.qubits + qubit) + (bit & 1u)];
    if (kMethod == kEncodeAngle) return complex(product.re * f.re, kZero);
    return multiply(product, f);
}

// The factors of `rows` states from `row` on, and which of them are not finite.
WEFT_GPU void load(uint row, uint rows) {
    for (uint r = gl_LocalInvocationIndex; r < rows; r += gl_WorkGroupSize.x) {
        bad_position[r] = 0u;
        bad_fault[r] = kEncodeGood;
    }
    if (gl_LocalInvocationIndex == 0) any_bad = 0u;
    barrier();
    const uint begin = p.in_base + row * p.qubits;
    for (uint at = gl_LocalInvocationIndex; at < rows * p.qubits; at += gl_WorkGroupSize.x) {
        const Raw raw = values[begin + at];
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

WEFT_GPU void store_slab(uint slab, uint block) {
    const uint low_bits = findMSB(gl_WorkGroupSize.x), lane = gl_LocalInvocationIndex;
    const uint lane_shift = kStoreWide ? 0u : 1u, fixed_bits = low_bits + lane_shift;
    const uint passes = 1u << (p.slab_bits - fixed_bits);
    if (lane < passes) {
        const uint index = lane | (block << (p.slab_bits - fixed_bits));
        Complex product = complex(kOne, kZero);
        for (uint k = fixed_bits; k < p.qubits; ++k)
            product = times(product, 0, k, index >> (k - fixed_bits));
        upper[lane] = product;
    }
    barrier();
    Complex mine = complex(kOne, kZero);
    for (uint k = 0; k < low_bits; ++k) mine = times(mine, 0, k + lane_shift, lane >> k);
    const bool good = bad_fault[0] == kEncodeGood;
    uint at = (slab << (p.slab_bits - lane_shift)) + lane;
    for (uint pass = 0; pass < passes; ++pass, at += gl_WorkGroupSize.x) {
        Complex both;
        if (kMethod == kEncodeAngle)
            both = complex(mine.re * upper[pass].re, kZero);
        else
            both = multiply(mine, upper[pass]);
        const uvec4 bytes =
            kStoreWide ? packed(both, both) : packed(times(both, 0, 0, 0), times(both, 0, 0, 1));
        states[at] = good ? bytes : uvec4(0u);
    }
}

WEFT_GPU void store_rows(uint from, uint rows) {
    const uint stores = (rows << p.qubits) / kPerStore;
    for (uint j = gl_LocalInvocationIndex; j < stores; j += gl_WorkGroupSize.x) {
        const uint amplitude = j * kPerStore, r = amplitude >> p.qubits;
        Complex product = complex(kOne, kZero);
        for (uint k = kPerStore - 1u; k < p.qubits; ++k) product = times(product, r, k, amplitude >> k);
        const uvec4 bytes =
            kStoreWide ? packed(product, product) : packed(times(product, r, 0, 0), times(product, r, 0, 1));
        states[((from << p.qubits) / kPerStore) + j] = bad_fault[r] == kEncodeGood ? bytes : uvec4(0u);
    }
}

WEFT_MAIN() {
    const bool slabs = p.qubits >= p.slab_bits;
    const uint per_group = slabs ? 1u : 1u << (p.slab_bits - p.qubits);
    const uint block_bits = slabs ? p.qubits - p.slab_bits : 0u;
    for (uint group = gl_WorkGroupID.x; group * per_group < count; group += gl_NumWorkGroups.x) {
        const uint from = group * per_group, rows = min(per_group, count - from);
        const uint element = p.base + first + from, row = element >> block_bits;
        const uint block = element & ((1u << block_bits) - 1u);
        load(row, rows);
        const bool by_row = (p.flags & kEncodeStatusByRow) != 0u;
        for (uint r = gl_LocalInvocationIndex; r < rows; r += gl_WorkGroupSize.x)
            if (!by_row || block == 0u)
                status[(by_row ? p.row_base + row : from) + r] = uvec2(bad_fault[r], bad_position[r]);
        if ((p.flags & kEncodeCheckOnly) == 0u) {
            if (slabs)
                store_slab(from, block);
            else
                store_rows(from, rows);
        }
        barrier();
    }
}
