// SPDX-License-Identifier: Apache-2.0
// basis: one amplitude of a state is 1, the others are 0. Every invocation stores 16 bytes at a time. Needs
// encode_parameters.h, encode_turns.h, and the constants, push constants and buffers of encode_basis.comp
// from the shader. No include guard: read once for each kernel.

WEFT_CONST uint kPerStore = kStoreWide ? 1u : 2u;
WEFT_CONST uint kStores = 8;               // stores of an invocation; the host counts workgroups by it
WEFT_CONST uint kNoIndex = 0xffffffffu;    // differs from every amplitude by more than a store is wide
WEFT_GROUP(uint, indices, kStores * 256);  // of the elements that a workgroup's stores overlap

// x: the index, y: its fault. A float of 2^24 or more may be the rounded value of another integer.
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
        // A denormal float, which widen_float turns into 0, is a fraction.
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

// Finds the index of every element that the stores [begin, end) overlap, once for all invocations, and writes
// the status of the elements that begin there.
WEFT_GPU void find_indices(uint begin, uint end, uint bits, uint block_bits) {
    const uint from = (begin * kPerStore) >> bits, elements = (((end - 1u) * kPerStore) >> bits) - from + 1u;
    const bool by_row = (p.flags & kEncodeStatusByRow) != 0u;
    for (uint i = gl_LocalInvocationIndex; i < elements; i += gl_WorkGroupSize.x) {
        const uint element = p.base + first + from + i, row = element >> block_bits;
        const uvec2 index = index_of(row);
        indices[i] = index.y == kEncodeGood ? index.x : kNoIndex;
        if (((from + i) << bits) < begin * kPerStore) continue;
        if (!by_row)
            status[from + i] = uvec2(index.y, 0u);
        else if ((element & ((1u << block_bits) - 1u)) == 0u)
            status[p.row_base + row] = uvec2(index.y, 0u);
    }
}

WEFT_MAIN() {
    const uint bits = min(p.qubits, p.slab_bits), block_bits = p.qubits - bits;
    const uint stores = (count << bits) / kPerStore, share = kStores * gl_WorkGroupSize.x;
    const uint one = kStoreWide ? 0x3ff00000u : 0x3f800000u;
    // The stores of a workgroup are contiguous, so that few indices are needed.
    for (uint begin = gl_WorkGroupID.x * share; begin < stores; begin += gl_NumWorkGroups.x * share) {
        const uint end = min(begin + share, stores);
        barrier();
        find_indices(begin, end, bits, block_bits);
        barrier();
        if ((p.flags & kEncodeCheckOnly) != 0u) continue;
        const uint from = (begin * kPerStore) >> bits;
        for (uint j = begin + gl_LocalInvocationIndex; j < end; j += gl_WorkGroupSize.x) {
            const uint at = (j * kPerStore) >> bits;
            const uint block = (p.base + first + at) & ((1u << block_bits) - 1u);
            const uint amplitude = (block << bits) | ((j * kPerStore) & ((1u << bits) - 1u));
            const uint place = indices[at - from] - amplitude;
            uvec4 bytes = uvec4(0u);
            if (place < kPerStore) {
                if (kStoreWide)
                    bytes.y = one;
                else if (place == 0u)
                    bytes.x = one;
                else
                    bytes.z = one;
            }
            states[j] = bytes;
        }
    }
}
