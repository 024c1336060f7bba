// SPDX-License-Identifier: Apache-2.0
// Values of a row two at a time, and amplitudes 16 bytes at a time. Needs encode_form.h, encode_norm.h, `p`,
// `row_begin`, `values` and `value_pairs`, which are the same memory, and `states` from the shader.
#if defined(WEFT_IN64)
WEFT_GPU Raw first_of(RawPair pair) {
    return pair.xy;
}
WEFT_GPU Raw second_of(RawPair pair) {
    return pair.zw;
}
#else
WEFT_GPU Raw first_of(RawPair pair) {
    return pair.x;
}
WEFT_GPU Raw second_of(RawPair pair) {
    return pair.y;
}
#endif

// Values 2 j and 2 j + 1 of the row; 0 behind its end.
WEFT_GPU RawPair load_pair(uint j) {
    if (2 * j >= p.features) return RawPair(0u);
    if ((p.flags & kEncodePaired) != 0u) return value_pairs[row_begin / 2 + j];
    if (2 * j + 1 < p.features) return RawPair(values[row_begin + 2 * j], values[row_begin + 2 * j + 1]);
#if defined(WEFT_IN64)
    return RawPair(values[row_begin + 2 * j], 0u, 0u);
#else
    return RawPair(values[row_begin + 2 * j], 0u);
#endif
}

WEFT_GPU void store_pair(uint to, uint j, Real a, Real b) {
    if (kStoreWide) {
        states[to + 2 * j] = packed(complex(a, kZero), complex(a, kZero));
        states[to + 2 * j + 1] = packed(complex(b, kZero), complex(b, kZero));
    } else {
        states[to + j] = packed(complex(a, kZero), complex(b, kZero));
    }
}

// Of values as they are, and the slow way.
WEFT_GPU void store_plain(uint to, uint j, RawPair pair, Real scale) {
    WEFT_PRECISE Real a = plain(first_of(pair)) * scale;
    WEFT_PRECISE Real b = plain(second_of(pair)) * scale;
    store_pair(to, j, a, b);
}
WEFT_GPU void store_scaled(uint to, uint j, RawPair pair, int exponent, Real scale) {
    WEFT_PRECISE Real a = value_of(first_of(pair), exponent) * scale;
    WEFT_PRECISE Real b = value_of(second_of(pair), exponent) * scale;
    store_pair(to, j, a, b);
}
