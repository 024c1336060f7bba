// SPDX-License-Identifier: Apache-2.0
// Sums, differences and Montgomery products for transforms, where a carry that cannot occur costs time: of
// fields of up to 31 bits, and of Goldilocks with 64-bit integers. Operands are below p, and so are results.
#ifndef WEFT_SHARED_NTT_ARITHMETIC_H
#define WEFT_SHARED_NTT_ARITHMETIC_H

#include "shaders/field/field_1x32.h"
#include "shaders/field/field_2x32.h"

WEFT_SHARED_BEGIN

// Of the two numbers that differ by p, the one below p is the smaller one modulo 2^32.
WEFT_FN Limbs1x32 lean_add(Limbs1x32 a, Limbs1x32 b, Limbs1x32 p) {
    uint sum = a.limb[0] + b.limb[0];
    Limbs1x32 r = {{min(sum, sum - p.limb[0])}};
    return r;
}
WEFT_FN Limbs1x32 lean_sub(Limbs1x32 a, Limbs1x32 b, Limbs1x32 p) {
    uint difference = a.limb[0] - b.limb[0];
    Limbs1x32 r = {{min(difference, difference + p.limb[0])}};
    return r;
}
// a * b / 2^32 mod p; n0 is -1 / p mod 2^32. The multiple of p with the same low word is subtracted, so the
// low words need not be added.
WEFT_FN Limbs1x32 lean_mul(Limbs1x32 a, Limbs1x32 b, Limbs1x32 p, uint n0) {
    uint high, low, multiple, cancelled;
    umulExtended(a.limb[0], b.limb[0], high, low);
    umulExtended(low * (0u - n0), p.limb[0], multiple, cancelled);
    uint difference = high - multiple;
    Limbs1x32 r = {{min(difference, difference + p.limb[0])}};
    return r;
}

#if defined(WEFT_INT64)
// p = 2^64 - 2^32 + 1, and 2^64 = 2^32 - 1 mod p.
WEFT_FN uint64_t goldilocks_of(Limbs2x32 a) {
    return (uint64_t(a.limb[1]) << 32) | uint64_t(a.limb[0]);
}
WEFT_FN Limbs2x32 goldilocks_limbs(uint64_t a) {
    Limbs2x32 r = {{uint(a), uint(a >> 32)}};
    return r;
}
WEFT_FN Limbs2x32 goldilocks_add(Limbs2x32 x, Limbs2x32 y) {
    uint64_t a = goldilocks_of(x), sum = a + goldilocks_of(y);
    uint64_t less = sum + uint64_t(0xffffffffu);  // sum - p
    return goldilocks_limbs(sum < a || less < sum ? less : sum);
}
WEFT_FN Limbs2x32 goldilocks_sub(Limbs2x32 x, Limbs2x32 y) {
    uint64_t a = goldilocks_of(x), b = goldilocks_of(y), difference = a - b;
    return goldilocks_limbs(a < b ? difference - uint64_t(0xffffffffu) : difference);
}
// x * y / 2^64 mod p. 1 / p = 1 + 2^32 mod 2^64, so the multiple m of p that has the low half of the product
// takes one addition, and the high half of m * p takes shifts.
WEFT_FN Limbs2x32 goldilocks_mul(Limbs2x32 x, Limbs2x32 y) {
    uint64_t low = uint64_t(x.limb[0]) * uint64_t(y.limb[0]);
    uint64_t middle = uint64_t(x.limb[0]) * uint64_t(y.limb[1]) + (low >> 32);
    uint64_t other = uint64_t(x.limb[1]) * uint64_t(y.limb[0]) + uint64_t(uint(middle));
    uint64_t high = uint64_t(x.limb[1]) * uint64_t(y.limb[1]) + (middle >> 32) + (other >> 32);
    low = (other << 32) | uint64_t(uint(low));
    uint64_t m = low + (low << 32);
    uint64_t multiple = m - (m >> 32) - uint64_t(m < low ? 1u : 0u);
    uint64_t difference = high - multiple;
    return goldilocks_limbs(high < multiple ? difference - uint64_t(0xffffffffu) : difference);
}
#endif

WEFT_SHARED_END

#endif
