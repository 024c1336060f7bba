// SPDX-License-Identifier: Apache-2.0
// Angles of kernel matrices: scale times feature, as a double. The arithmetic uses only integers, so that a
// device without double arithmetic gets the same angle and reduces it with the same accuracy.
#ifndef WEFT_SHARED_KERNEL_ANGLE_H
#define WEFT_SHARED_KERNEL_ANGLE_H

#include "shaders/shared/portable.h"

WEFT_SHARED_BEGIN

WEFT_FN uint double_exponent(uvec2 a) {
    return (a.y >> 20) & 0x7ffu;
}

// The 53 bits of the mantissa, including the leading one.
WEFT_FN uvec2 double_mantissa(uvec2 a) {
    return uvec2(a.x, (a.y & 0xfffffu) | 0x100000u);
}

// a * b, rounded to nearest, ties to even, as in IEEE 754; the low word is in x. Denormal numbers count as 0,
// and a result below 2^-1022 becomes 0, because such an angle counts as 0. The result is infinite or NaN if
// an operand is, and infinite if the product is too large.
WEFT_FN uvec2 multiply_doubles(uvec2 a, uvec2 b) {
    const uint sign = (a.y ^ b.y) & 0x80000000u, ea = double_exponent(a), eb = double_exponent(b);
    if (ea == 2047u) return a;
    if (eb == 2047u) return b;
    if (ea == 0u || eb == 0u) return uvec2(0u, sign);
    const uvec2 m = double_mantissa(a), n = double_mantissa(b);
    uint word[4];  // the product has 105 or 106 bits
    uint high, low, carry;
    umulExtended(m.x, n.x, word[1], word[0]);
    umulExtended(m.y, n.y, word[3], word[2]);
    umulExtended(m.x, n.y, high, low);
    word[1] = uaddCarry(word[1], low, carry);
    high += carry;  // stays below 2^21
    word[2] = uaddCarry(word[2], high, carry);
    word[3] += carry;
    umulExtended(m.y, n.x, high, low);
    word[1] = uaddCarry(word[1], low, carry);
    high += carry;
    word[2] = uaddCarry(word[2], high, carry);
    word[3] += carry;
    // The leading one is bit 105 or 104; the result is the 53 bits from there on.
    const uint top = (word[3] >> 9) & 1u, shift = 20u + top;  // bits of word[1] below the result
    uint from_low = (word[1] >> shift) | (word[2] << (32u - shift));
    uint from_high = (word[2] >> shift) | (word[3] << (32u - shift));
    const uint rest = word[1] & ((1u << shift) - 1u), half_way = 1u << (shift - 1u);
    const bool above = rest > half_way || (rest == half_way && word[0] != 0u);
    const bool tie = rest == half_way && word[0] == 0u;
    int exponent = int(ea) + int(eb) - 1023 + int(top);
    if (above || (tie && (from_low & 1u) != 0u)) {
        from_low = uaddCarry(from_low, 1u, carry);
        from_high += carry;
        if ((from_high >> 21) != 0u) {  // rounded up to a power of two; all bits below are 0
            from_high >>= 1;
            exponent += 1;
        }
    }
    if (exponent >= 2047) return uvec2(0u, sign | 0x7ff00000u);
    if (exponent <= 0) return uvec2(0u, sign);
    return uvec2(from_low, sign | (uint(exponent) << 20) | (from_high & 0xfffffu));
}

// a / 2; 0 below 2^-1021.
WEFT_FN uvec2 half_double(uvec2 a) {
    const uint exponent = double_exponent(a);
    if (exponent == 2047u) return a;
    if (exponent <= 1u) return uvec2(0u, a.y & 0x80000000u);
    return uvec2(a.x, a.y - 0x100000u);
}

WEFT_SHARED_END

#endif
