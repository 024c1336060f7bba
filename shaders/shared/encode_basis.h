// SPDX-License-Identifier: Apache-2.0
// basis: one amplitude of a state is 1, the others are 0. Every invocation makes 16 bytes at a time and reads
// the index of its state for itself. Needs encode_form.h, and the push constants and buffers of
// encode_basis.comp from the shader. No include guard: read once for each kernel.

WEFT_CONST uint kPerStore = kStoreWide ? 1u : 2u;
WEFT_CONST uint kStores = 8;  // of an invocation, as the host counts workgroups

// x: the index, y: what is wrong with it. A float from 2^24 on may stand for another integer than was meant.
WEFT_GPU uvec2 whole_number(uvec2 words) {
    const uint magnitude = words.y & 0x7fffffffu;
    if (magnitude >= 0x7ff00000u) {
        const bool infinite = magnitude == 0x7ff00000u && words.x == 0u;
        return uvec2(0u, infinite ? kEncodeInfinite : kEncodeNaN);
    }
    if (magnitude == 0u && words.x == 0u) return uvec2(0u, kEncodeGood);
    if (words.y != magnitude) return uvec2(0u, kEncodeNegative);
    const int exponent = int(magnitude >> 20) - 1023;
    if (exponent < 0) return uvec2(0u, kEncodeFractional);
    const uint high = (magnitude & 0xfffffu) | 0x100000u;
    const uint high_fraction = exponent >= 20 ? 0u : high & ((1u << (20 - exponent)) - 1u);
    const uint low_fraction = exponent >= 52   ? 0u
                              : exponent <= 20 ? words.x
                                               : words.x & ((1u << (52 - exponent)) - 1u);
    if (high_fraction != 0u || low_fraction != 0u) return uvec2(0u, kEncodeFractional);
    if (exponent >= 31) return uvec2(0u, kEncodeOutOfRange);
    const uint fault = kInput == 0u && exponent >= 24 ? kEncodeInexact : kEncodeGood;
    if (exponent <= 20) return uvec2(high >> (20 - exponent), fault);
    return uvec2((high << (exponent - 20)) | (words.x >> (52 - exponent)), fault);
}

WEFT_GPU uvec2 index_of(uint row) {
    const uint at = p.in_base + row;
    uvec2 index;
    if (kInput == 0u)
        // A float that widening takes for 0 is a fraction.
        index = (values[at] & 0x7f800000u) == 0u && (values[at] & 0x7fffffffu) != 0u
                    ? uvec2(0u, (values[at] >> 31) != 0u ? kEncodeNegative : kEncodeFractional)
                    : whole_number(widen_float(values[at]));
    else if (kInput == 1u)
        index = whole_number(uvec2(values[2 * at], values[2 * at + 1]));
    else
        index = uvec2(values[2 * at], (values[2 * at + 1] >> 31) != 0u ? kEncodeNegative
                                      : values[2 * at + 1] != 0u       ? kEncodeOutOfRange
                                                                       : kEncodeGood);
    const bool whole = index.y == kEncodeGood || index.y == kEncodeInexact;
    if (whole && index.x >= (1u << p.qubits)) index.y = kEncodeOutOfRange;
    return index;
}

WEFT_MAIN() {
    const uint bits = min(p.qubits, p.slab_bits), block_bits = p.qubits - bits;
    const uint stores = (count << bits) / kPerStore;
    const uint one = kStoreWide ? 0x3ff00000u : 0x3f800000u;
    // A workgroup's stores lie together, so that those of an invocation mostly belong to one state.
    const uint share = kStores * gl_WorkGroupSize.x;
    uint known = 0xffffffffu;
    uvec2 index = uvec2(0u);
    for (uint begin = gl_WorkGroupID.x * share; begin < stores; begin += gl_NumWorkGroups.x * share)
        for (uint j = begin + gl_LocalInvocationIndex; j < min(begin + share, stores);
             j += gl_WorkGroupSize.x) {
            const uint from = (j * kPerStore) >> bits, element = p.base + first + from,
                       row = element >> block_bits;
            const uint block = element & ((1u << block_bits) - 1u);
            const uint amplitude = (block << bits) | ((j * kPerStore) & ((1u << bits) - 1u));
            if (row != known) index = index_of(row);
            known = row;
            if ((amplitude & ((1u << bits) - 1u)) == 0u) {
                const bool by_row = (p.flags & kEncodeStatusByRow) != 0u;
                if (!by_row || block == 0u) status[by_row ? p.row_base + row : from] = uvec2(index.y, 0u);
            }
            if ((p.flags & kEncodeCheckOnly) != 0u) continue;
            uvec4 bytes = uvec4(0u);
            if (index.y == kEncodeGood && index.x - amplitude < kPerStore) {
                if (kStoreWide)
                    bytes.y = one;
                else if (index.x == amplitude)
                    bytes.x = one;
                else
                    bytes.z = one;
            }
            states[j] = bytes;
        }
}
