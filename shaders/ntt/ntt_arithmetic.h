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

// a * b mod p with the quotient b * 2^32 / p, rounded down. Less than one multiple of p is not subtracted.
WEFT_FN Limbs1x32 lean_scale(Limbs1x32 a, uint b, uint quotient, Limbs1x32 p) {
    uint high, low;
    umulExtended(a.limb[0], quotient, high, low);
    const uint rest = a.limb[0] * b - high * p.limb[0];
    Limbs1x32 r = {{min(rest, rest - p.limb[0])}};
    return r;
}

// Of a factor in Montgomery form: the plain factor and its quotient. 2^32 times the plain one is `a` more
// than a multiple of p, so the quotient is -a / p mod 2^32.
WEFT_FN uvec2 quick_of_montgomery(Limbs1x32 a, Limbs1x32 p, uint n0) {
    Limbs1x32 one = {{1u}};
    return uvec2(lean_mul(a, one, p, n0).limb[0], a.limb[0] * n0);
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

// Within a step, a value is the sum of limb[i] * 2^(24 i), of which only the residue mod p counts: sums have
// no carries, and because 2^96 = -1 mod p, powers of 2^24 only move limbs.
struct SpreadGoldilocks {
    int limb[4];
};
// Of any 64 bits.
WEFT_FN SpreadGoldilocks spread_of(Limbs2x32 a) {
    SpreadGoldilocks r = {{int(a.limb[0] & 0xffffffu),
                           int(((a.limb[0] >> 24) | (a.limb[1] << 8)) & 0xffffffu), int(a.limb[1] >> 16), 0}};
    return r;
}
WEFT_FN SpreadGoldilocks spread_add(SpreadGoldilocks a, SpreadGoldilocks b) {
    SpreadGoldilocks r;
    WEFT_UNROLL for (int i = 0; i < 4; ++i) r.limb[i] = a.limb[i] + b.limb[i];
    return r;
}
WEFT_FN SpreadGoldilocks spread_sub(SpreadGoldilocks a, SpreadGoldilocks b) {
    SpreadGoldilocks r;
    WEFT_UNROLL for (int i = 0; i < 4; ++i) r.limb[i] = a.limb[i] - b.limb[i];
    return r;
}
// a * 2^(12 by). For odd `by`, limbs of the result are below 2^24 plus carries.
WEFT_FN SpreadGoldilocks spread_turn(SpreadGoldilocks a, uint by) {
    int l0 = a.limb[0], l1 = a.limb[1], l2 = a.limb[2], l3 = a.limb[3];
    if ((by & 1u) != 0u) {
        l0 = ((a.limb[0] & 0xfff) << 12) - (a.limb[3] >> 12);
        l1 = ((a.limb[1] & 0xfff) << 12) + (a.limb[0] >> 12);
        l2 = ((a.limb[2] & 0xfff) << 12) + (a.limb[1] >> 12);
        l3 = ((a.limb[3] & 0xfff) << 12) + (a.limb[2] >> 12);
    }
    const uint moved = (by >> 1) & 3u;
    SpreadGoldilocks r = {{l0, l1, l2, l3}};
    if (moved == 1u) {
        r.limb[0] = -l3, r.limb[1] = l0, r.limb[2] = l1, r.limb[3] = l2;
    } else if (moved == 2u) {
        r.limb[0] = -l2, r.limb[1] = -l3, r.limb[2] = l0, r.limb[3] = l1;
    } else if (moved == 3u) {
        r.limb[0] = -l1, r.limb[1] = -l2, r.limb[2] = -l3, r.limb[3] = l0;
    }
    if ((by & 8u) != 0u) {
        WEFT_UNROLL for (int i = 0; i < 4; ++i) r.limb[i] = -r.limb[i];
    }
    return r;
}
// A multiple of p more, which makes it positive: low + 2^32 middle + 2^64 top with top < 2^14, for limbs of
// up to 28 bits and a sign.
struct WideGoldilocks {
    uint low, middle, top;
};
WEFT_FN WideGoldilocks wide_of(SpreadGoldilocks a) {
    // 2^13 p = 2^77 - 2^45 + 2^13.
    const int64_t low =
        int64_t(a.limb[1]) * 0x1000000 + 0x2000 - int64_t(a.limb[3]) * 0x100 + int64_t(a.limb[0]);
    const int64_t high = int64_t(a.limb[2]) * 0x10000 + ((int64_t(0x2000) << 32) - 0x2000) +
                         int64_t(a.limb[3]) * 0x100 + (low >> 32);
    WideGoldilocks r = {uint(low), uint(high), uint(high >> 32)};
    return r;
}
// 64 bits of the residue of low + 2^32 high, which may be p or more, for numbers from 0 to 2^64 + 2^63 - 2^32
// and, if less than 2^32 are missing, below 0. 2^64 = 2^32 - 1.
WEFT_FN Limbs2x32 goldilocks_folded(uint low, int64_t high) {
    const int over = int(high >> 32);
    const int64_t rest = int64_t(uint64_t(low)) - int64_t(over);
    Limbs2x32 r = {{uint(rest), uint(high) + uint(over) + uint(rest >> 32)}};
    return r;
}
// The same for larger numbers, up to 2^80: what is folded may have 65 bits.
WEFT_FN Limbs2x32 goldilocks_folded_twice(uint low, int64_t high) {
    const uint over = uint(high >> 32);
    const int64_t rest = int64_t(uint64_t(low)) - int64_t(uint64_t(over));
    return goldilocks_folded(uint(rest), int64_t(uint64_t(uint(high)) + uint64_t(over)) + (rest >> 32));
}
WEFT_FN Limbs2x32 settled(WideGoldilocks a) {
    return goldilocks_folded_twice(a.low, int64_t((uint64_t(a.top) << 32) | uint64_t(a.middle)));
}
struct GoldilocksProduct {
    uint low[2];
    uint64_t high;
};
WEFT_FN GoldilocksProduct goldilocks_product(uint x0, uint x1, Limbs2x32 y) {
    const uint64_t first = uint64_t(x0) * uint64_t(y.limb[0]);
    const uint64_t middle = uint64_t(x0) * uint64_t(y.limb[1]) + (first >> 32);
    const uint64_t other = uint64_t(x1) * uint64_t(y.limb[0]) + uint64_t(uint(middle));
    GoldilocksProduct r = {{uint(first), uint(other)},
                           uint64_t(x1) * uint64_t(y.limb[1]) + (middle >> 32) + (other >> 32)};
    return r;
}
// x * y / 2^64 mod p in 64 bits, for y < p; they may be p or more.
//
// With u = 2^32: u^2 = u - 1 and 1 / u^2 = -u. Of the product l0 + l1 u + (h0 + h1 u + top y) u^2, the first
// two terms become l1 - (l0 + l1) u. Multiples of p make the sum positive.
WEFT_FN Limbs2x32 wide_mul(WideGoldilocks x, Limbs2x32 y) {
    const GoldilocksProduct xy = goldilocks_product(x.low, x.middle, y);
    const uint64_t low =
        uint64_t(x.top) * uint64_t(y.limb[0]) + uint64_t(uint(xy.high)) + uint64_t(xy.low[1]) + uint64_t(2u);
    const uint64_t high = uint64_t(x.top) * uint64_t(y.limb[1]) + (xy.high >> 32) +
                          uint64_t(0xffffffffu) * 2 - uint64_t(xy.low[0]) - uint64_t(xy.low[1]) + (low >> 32);
    return goldilocks_folded_twice(uint(low), int64_t(high));
}
WEFT_FN Limbs2x32 goldilocks_lazy_mul(Limbs2x32 x, Limbs2x32 y) {
    const GoldilocksProduct xy = goldilocks_product(x.limb[0], x.limb[1], y);
    const uint64_t low = uint64_t(uint(xy.high)) + uint64_t(xy.low[1]) + uint64_t(1u);
    const int64_t high = int64_t(xy.high >> 32) - int64_t(uint64_t(xy.low[0])) -
                         int64_t(uint64_t(xy.low[1])) + int64_t(uint64_t(0xffffffffu)) + int64_t(low >> 32);
    return goldilocks_folded(uint(low), high);
}
WEFT_FN Limbs2x32 goldilocks_canonical(Limbs2x32 a) {
    const bool above = a.limb[1] == 0xffffffffu && a.limb[0] != 0u;
    Limbs2x32 r = {{above ? a.limb[0] - 1u : a.limb[0], above ? 0u : a.limb[1]}};
    return r;
}
#endif

WEFT_SHARED_END

#endif
