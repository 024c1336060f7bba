// SPDX-License-Identifier: Apache-2.0
// basis: the index that a row holds. Needs encode_parameters.h, encode_turns.h, and kInput, `p` and `values`
// from the shader. No include guard: read once for each kernel.

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
