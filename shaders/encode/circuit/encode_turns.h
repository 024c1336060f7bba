// SPDX-License-Identifier: Apache-2.0
// Angles as fixed-point turns: an angle x becomes the fraction of x / (2 pi) in 64 bits, which is exact to
// 2^-64 turn for every finite x. Sums of angles are then sums of integers, which are right modulo a turn for
// any number of terms. All arithmetic is on integers, so that no compiler can contract, reorder or flush it.
#ifndef WEFT_SHARED_ENCODE_TURNS_H
#define WEFT_SHARED_ENCODE_TURNS_H

#include "shaders/shared/portable.h"

WEFT_SHARED_BEGIN

// The angle is (high * 2^32 + low) / 2^64 of a turn.
struct Turns {
    uint high, low;
};

WEFT_FN Turns add_turns(Turns a, Turns b) {
    Turns sum;
    sum.low = a.low + b.low;
    sum.high = a.high + b.high + (sum.low < a.low ? 1u : 0u);
    return sum;
}

WEFT_FN Turns minus_turns(Turns a) {
    Turns result;
    result.low = 0u - a.low;
    result.high = ~a.high + (a.low == 0u ? 1u : 0u);
    return result;
}

// Word i of the bits of 1 / (2 pi) after the binary point; 0 outside of the words that a double can need.
WEFT_FN uint inverse_turn_word(int i) {
    WEFT_TABLE uint words[36] = {
        0x28be60dbu, 0x9391054au, 0x7f09d5f4u, 0x7d4d3770u, 0x36d8a566u, 0x4f10e410u,
        0x7f9458eau, 0xf7aef158u, 0x6dc91b8eu, 0x909374b8u, 0x01924bbau, 0x82746487u,
        0x3f877ac7u, 0x2c4a69cfu, 0xba208d7du, 0x4baed121u, 0x3a671c09u, 0xad17df90u,
        0x4e64758eu, 0x60d4ce7du, 0x272117e2u, 0xef7e4a0eu, 0xc7fe25ffu, 0xf7816603u,
        0xfbcbc462u, 0xd6829b47u, 0xdb4d9fb3u, 0xc9f2c26du, 0xd3d18fd9u, 0xa797fa8bu,
        0x5d49eeb1u, 0xfaf97c5eu, 0xcf41ce7du, 0xe294a4bau, 0x9afed7ecu, 0x47e35742u};
    return i < 0 || i > 35 ? 0u : words[i];
}

// 32 bits of 1 / (2 pi), the first of them `offset` bits after the binary point.
WEFT_FN uint inverse_turn_bits(int offset) {
    const int index = offset >> 5, shift = offset & 31;
    const uint word = inverse_turn_word(index);
    return shift == 0 ? word : (word << shift) | (inverse_turn_word(index + 1) >> (32 - shift));
}

// The same at `offset` and 32, 64 and 96 bits further, in words 0 to 3.
struct TurnBits {
    uint word[4];
};
WEFT_FN TurnBits turn_bits_of_table(int offset) {
    TurnBits bits;
    WEFT_UNROLL for (int i = 0; i < 4; ++i) bits.word[i] = inverse_turn_bits(offset + 32 * i);
    return bits;
}

// The same without an indexed table: on software devices, look-ups of eight lanes take longer than these
// selections. All words are shifted down by the number of words before the first one needed, one binary digit
// of this number at a time.
WEFT_FN TurnBits turn_bits_by_shifts(int offset) {
    const uint before = uint((offset >> 5) + 34), shift = uint(offset & 31);  // the least offset is -1074
    uint w[70];
    WEFT_UNROLL for (int i = 0; i < 70; ++i) w[i] = inverse_turn_word(i - 34);
    if ((before & 64u) != 0u) {
        WEFT_UNROLL for (int i = 0; i < 5; ++i) w[i] = w[i + 64];
    }
    if ((before & 32u) != 0u) {
        WEFT_UNROLL for (int i = 0; i < 36; ++i) w[i] = w[i + 32];
    }
    if ((before & 16u) != 0u) {
        WEFT_UNROLL for (int i = 0; i < 20; ++i) w[i] = w[i + 16];
    }
    if ((before & 8u) != 0u) {
        WEFT_UNROLL for (int i = 0; i < 12; ++i) w[i] = w[i + 8];
    }
    if ((before & 4u) != 0u) {
        WEFT_UNROLL for (int i = 0; i < 8; ++i) w[i] = w[i + 4];
    }
    if ((before & 2u) != 0u) {
        WEFT_UNROLL for (int i = 0; i < 6; ++i) w[i] = w[i + 2];
    }
    if ((before & 1u) != 0u) {
        WEFT_UNROLL for (int i = 0; i < 5; ++i) w[i] = w[i + 1];
    }
    TurnBits bits;
    WEFT_UNROLL for (int i = 0; i < 4; ++i) bits.word[i] =
        shift == 0u ? w[i] : (w[i] << shift) | (w[i + 1] >> (32u - shift));
    return bits;
}
#if defined(WEFT_TURNS_BY_SHIFTS)
#define turn_bits turn_bits_by_shifts
#else
#define turn_bits turn_bits_of_table
#endif

// The turns of the double x with the words `high` and `low`. x = m * 2^q with an integer m below 2^53, so the
// fraction of x / (2 pi) is that of m times the bits of 1 / (2 pi) after position q. With 128 of these bits
// the error is below 2^-75. The result has no meaning if x is not finite.
WEFT_FN Turns turns_of(uint high, uint low) {
    const int exponent = int((high >> 20) & 0x7ffu);
    const uint m[2] = {low, (high & 0xfffffu) | (exponent == 0 ? 0u : 0x100000u)};
    const int q = (exponent == 0 ? 1 : exponent) - 1075;
    const TurnBits f = turn_bits(q);     // word 3 is the lowest
    uint product[4] = {0u, 0u, 0u, 0u};  // modulo 2^128, which is one turn
    WEFT_UNROLL for (int i = 0; i < 2; ++i) {
        uint carry = 0u;
        // Mesa unrolls an inner loop only if its bounds are constants.
        WEFT_UNROLL for (int k = 0; k < 4; ++k) if (k >= i) {
            uint upper, lower;
            umulExtended(m[i], f.word[3 - (k - i)], upper, lower);
            lower += carry;
            upper += lower < carry ? 1u : 0u;
            product[k] += lower;
            carry = upper + (product[k] < lower ? 1u : 0u);
        }
    }
    Turns turns, half_unit;
    turns.high = product[3];
    turns.low = product[2];
    half_unit.high = 0u;
    half_unit.low = product[1] >> 31;
    turns = add_turns(turns, half_unit);
    if ((high >> 31) != 0u) turns = minus_turns(turns);
    return turns;
}

// The double that equals a float, with the high word in y and the low word in x as in packDouble2x32. Floats
// below 2^-126 become 0, because such an angle counts as 0.
WEFT_FN uvec2 widen_float(uint bits) {
    const uint exponent = (bits >> 23) & 0xffu, mantissa = bits & 0x7fffffu;
    const uint sign = bits & 0x80000000u;
    if (exponent == 0u) return uvec2(0u, sign);
    const uint wide = exponent == 255u ? 2047u : exponent + 896u;
    return uvec2(mantissa << 29, sign | (wide << 20) | (mantissa >> 3));
}

// The same without this exception: such an angle is its own sine, which a double can represent.
WEFT_FN uvec2 widen_any_float(uint bits) {
    const uint mantissa = bits & 0x7fffffu;
    if ((bits & 0x7f800000u) != 0u || mantissa == 0u) return widen_float(bits);
    const uint top = uint(findMSB(mantissa));  // m * 2^-149 = 2^(top - 149) * 1.fraction
    const uint fraction = (mantissa << (23u - top)) & 0x7fffffu;
    return uvec2(fraction << 29, (bits & 0x80000000u) | ((top + 874u) << 20) | (fraction >> 3));
}

WEFT_SHARED_END

#endif
