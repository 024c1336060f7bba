// SPDX-License-Identifier: Apache-2.0
// Totals of 64 bits in fixed point. Integers are added without rounding, so a total does not depend on the
// order in which its terms come, nor on the device that adds them. A number is rounded once, to a multiple of
// 2^unit, when it becomes a term. Words of 64 bits have their low half in x; negative ones are complements.
#ifndef WEFT_SHARED_OPERATOR_TOTAL_H
#define WEFT_SHARED_OPERATOR_TOTAL_H

#include "shaders/shared/portable.h"

WEFT_SHARED_BEGIN

// a + b modulo 2^64.
WEFT_FN uvec2 add_words(uvec2 a, uvec2 b) {
    uint carry;
    const uint low = uaddCarry(a.x, b.x, carry);
    return uvec2(low, a.y + b.y + carry);
}

WEFT_FN uvec2 negate_words(uvec2 a) {
    return uvec2(~a.x + 1u, ~a.y + (a.x == 0u ? 1u : 0u));
}

// m * 2^shift for m below 2^53 and a result below 2^63, rounded to nearest, halves up. 0 takes any shift.
WEFT_FN uvec2 shift_words(uvec2 m, int shift) {
    if (shift == 0) return m;
    if (shift > 0) {
        const uint left = min(uint(shift), 63u);
        if (left >= 32u) return uvec2(0u, m.x << (left - 32u));
        return uvec2(m.x << left, (m.y << left) | (m.x >> (32u - left)));
    }
    if (shift < -54) return uvec2(0u, 0u);
    const uint right = uint(-shift);
    const uvec2 half_of = right > 32u ? uvec2(0u, 1u << (right - 33u)) : uvec2(1u << (right - 1u), 0u);
    const uvec2 sum = add_words(m, half_of);
    if (right == 32u) return uvec2(sum.y, 0u);
    if (right > 32u) return uvec2(sum.y >> (right - 32u), 0u);
    return uvec2((sum.x >> right) | (sum.y << (32u - right)), sum.y >> right);
}

// Whether a number is finite and below 2^(unit + 62), so that it can be a term. Denormal numbers always can:
// a unit follows from numbers that are at least as large as a term.
WEFT_FN bool float_can_be_term(uint bits, int unit) {
    const uint exponent = (bits >> 23) & 0xffu;
    return exponent == 0u || (exponent != 0xffu && int(exponent) - 127 < unit + 62);
}
WEFT_FN bool double_can_be_term(uvec2 bits, int unit) {
    const uint exponent = (bits.y >> 20) & 0x7ffu;
    return exponent == 0u || (exponent != 0x7ffu && int(exponent) - 1023 < unit + 62);
}

// Multiples of 2^unit nearest to a float and to a double that can be terms.
WEFT_FN uvec2 fixed_of_float(uint bits, int unit) {
    const uint exponent = (bits >> 23) & 0xffu;
    const uint m = (bits & 0x7fffffu) | (exponent != 0u ? 0x800000u : 0u);
    const uvec2 size = shift_words(uvec2(m, 0u), int(max(exponent, 1u)) - 150 - unit);
    return (bits >> 31) != 0u ? negate_words(size) : size;
}
WEFT_FN uvec2 fixed_of_double(uvec2 bits, int unit) {
    const uint exponent = (bits.y >> 20) & 0x7ffu;
    const uvec2 m = uvec2(bits.x, (bits.y & 0xfffffu) | (exponent != 0u ? 0x100000u : 0u));
    const uvec2 size = shift_words(m, int(max(exponent, 1u)) - 1075 - unit);
    return (bits.y >> 31) != 0u ? negate_words(size) : size;
}

WEFT_SHARED_END

#endif
