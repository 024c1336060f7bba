// SPDX-License-Identifier: Apache-2.0
// Fields of up to 31 bits: one limb, 4 bytes an element. A product fits two words, so nothing needs to be cut
// into parts, and sums of products are kept reduced. The names are those of field_montgomery.h.
#ifndef WEFT_SHARED_FIELD_1X32_H
#define WEFT_SHARED_FIELD_1X32_H

#include "portable.h"

#define FIELD_LIMBS Limbs1x32
#define FIELD_LIMB uint
#define FIELD_COUNT 1
#include "field_limbs.h"

#include "field_end.h"

WEFT_SHARED_BEGIN

// a * b / 2^32 mod p, below p whenever a * b < p * 2^32; p < 2^31.
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

struct PairColumns1x32 {
    Limbs1x32 total;
};
WEFT_FN void clear_columns(WEFT_OUT(PairColumns1x32) sum) {
    sum.total.limb[0] = 0u;
}
WEFT_FN void add_product(WEFT_INOUT(PairColumns1x32) sum, Limbs1x32 a, Limbs1x32 b, Limbs1x32 p, uint n0) {
    sum.total = add_mod(sum.total, montgomery_in_pairs(a, b, p, n0), p);
}
WEFT_FN void settle_columns(WEFT_INOUT(PairColumns1x32)) {}
WEFT_FN Limbs1x32 column_total_in_pairs(PairColumns1x32 sum, Limbs1x32, uint) {
    return sum.total;
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
