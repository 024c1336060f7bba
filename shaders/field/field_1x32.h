// SPDX-License-Identifier: Apache-2.0
// Fields of up to 31 bits: one limb, 4 bytes an element. A product fits two words, so elements need not be
// cut into parts, and sums of products are kept nearly reduced. The names are those of field_montgomery.inc.
#ifndef WEFT_SHARED_FIELD_1X32_H
#define WEFT_SHARED_FIELD_1X32_H

#include "shaders/shared/portable.h"

#define FIELD_LIMBS Limbs1x32
#define FIELD_LIMB uint
#define FIELD_COUNT 1
#include "field_limbs.inc"

#include "field_end.inc"

WEFT_SHARED_BEGIN

// a * b / 2^32 mod p. The result is below p if a * b < p * 2^32; p < 2^31.
WEFT_FN Limbs1x32 montgomery_in_pairs(Limbs1x32 a, Limbs1x32 b, Limbs1x32 p, uint n0) {
    uint high, low, multiple, cancelled;
    umulExtended(a.limb[0], b.limb[0], high, low);
    umulExtended(low * n0, p.limb[0], multiple, cancelled);
    // low + cancelled is 0 or 2^32.
    uint sum = high + multiple + (low != 0u ? 1u : 0u);
    Limbs1x32 r = {{sum >= p.limb[0] ? sum - p.limb[0] : sum}};
    return r;
}

const uint kProducts1x32 = 0x80000000u, kProductsTotal1x32 = 0x80000000u;

// A sum of products, kept below p * 2^32 in two words. A product adds less than half of this bound, and
// subtracting p from the upper word subtracts p * 2^32.
struct PairColumns1x32 {
    uint low, high;
};
WEFT_FN void clear_columns(WEFT_OUT(PairColumns1x32) sum) {
    sum.low = 0u;
    sum.high = 0u;
}
WEFT_FN void add_product(WEFT_INOUT(PairColumns1x32) sum, Limbs1x32 a, Limbs1x32 b, Limbs1x32 p, uint) {
    uint high, low, carry;
    umulExtended(a.limb[0], b.limb[0], high, low);
    sum.low = uaddCarry(sum.low, low, carry);
    sum.high += high + carry;
    sum.high = min(sum.high, sum.high - p.limb[0]);
}
WEFT_FN void settle_columns(WEFT_INOUT(PairColumns1x32)) {}
// The sum divided by 2^32 mod p.
WEFT_FN Limbs1x32 column_total_in_pairs(PairColumns1x32 sum, Limbs1x32 p, uint n0) {
    uint multiple, cancelled;
    umulExtended(sum.low * n0, p.limb[0], multiple, cancelled);
    // low + cancelled is 0 or 2^32.
    uint total = sum.high + multiple + (sum.low != 0u ? 1u : 0u);
    Limbs1x32 r = {{total >= p.limb[0] ? total - p.limb[0] : total}};
    return r;
}

WEFT_FN Limbs1x32 limbs1x32(uint value) {
    Limbs1x32 a = {{value}};
    return a;
}
WEFT_FN uint part_of(Limbs1x32 a, int part) {
    return a.limb[part];
}

WEFT_SHARED_END

#endif
