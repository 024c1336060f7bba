// SPDX-License-Identifier: Apache-2.0
// Loads values of a row two at a time, and stores amplitudes 16 bytes at a time. Needs
// encode_interface.glsl.h, encode_norm.glsl.h, `p`, `row_begin`, `values` and `value_pairs`, which are the
// same memory, and `states` from the shader.
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

// In a step, each of `lanes` invocations takes two of the 2 * lanes values from value 2 * step on. For
// complex64 these are neighbours, which take one load and one store. For complex128 each amplitude is a
// store; the two values are then `lanes` apart, so that neighbouring invocations write neighbouring memory.
WEFT_GPU uint first_place(uint step, uint member) {
    return kStoreWide ? 2 * step + member : 2 * (step + member);
}

WEFT_GPU Raw value_or_zero(uint place) {
    return place < p.features ? values[row_begin + place] : Raw(0u);
}

// Values after the end of the row are 0.
WEFT_GPU RawPair load_pair(uint step, uint member, uint lanes) {
    const uint place = first_place(step, member);
    if (!kStoreWide && (p.flags & kEncodePaired) != 0u)
        return place < p.features ? value_pairs[row_begin / 2 + step + member] : RawPair(0u);
    return RawPair(value_or_zero(place), value_or_zero(place + (kStoreWide ? lanes : 1u)));
}

// The same for a step within the row, with values that are `lanes` apart.
WEFT_GPU RawPair load_two(uint step, uint member, uint lanes) {
    const uint place = row_begin + first_place(step, member);
    return RawPair(values[place], values[place + lanes]);
}

// Each square is added alone, so that the sum does not depend on which values were loaded as pairs.
WEFT_GPU void add_squares(WEFT_INOUT(Real) sum, WEFT_INOUT(Real) rest, RawPair pair) {
    add_square(sum, rest, plain(first_of(pair)));
    add_square(sum, rest, plain(second_of(pair)));
}

WEFT_GPU void store_pair(uint to, uint step, uint member, uint lanes, Real a, Real b) {
    if (kStoreWide) {
        WEFT_AT(states, to + member, 2 * step) = packed(complex(a, kZero), complex(a, kZero));
        WEFT_AT(states, to + member, 2 * step + lanes) = packed(complex(b, kZero), complex(b, kZero));
    } else {
        WEFT_AT(states, to + member, step) = packed(complex(a, kZero), complex(b, kZero));
    }
}

// store_plain takes values without scaling; store_scaled is for the careful way.
WEFT_GPU void store_plain(uint to, uint step, uint member, uint lanes, RawPair pair, Real scale) {
    WEFT_PRECISE Real a = plain(first_of(pair)) * scale;
    WEFT_PRECISE Real b = plain(second_of(pair)) * scale;
    store_pair(to, step, member, lanes, a, b);
}
WEFT_GPU void store_scaled(uint to, uint step, uint member, uint lanes, RawPair pair, int exponent,
                           Real scale) {
    WEFT_PRECISE Real a = value_of(first_of(pair), exponent) * scale;
    WEFT_PRECISE Real b = value_of(second_of(pair), exponent) * scale;
    store_pair(to, step, member, lanes, a, b);
}
