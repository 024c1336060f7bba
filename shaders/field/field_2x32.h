// SPDX-License-Identifier: Apache-2.0
// Fields of 64 bits without a spare one: 2 limbs of 32 bits, 8 bytes an element.
#ifndef WEFT_SHARED_FIELD_2X32_H
#define WEFT_SHARED_FIELD_2X32_H

#include "field_wide.h"

#define FIELD_LIMBS Limbs2x32
#define FIELD_LIMB uint
#define FIELD_COUNT 2
#define FIELD_PARTS Parts3x28
#define FIELD_PART_COUNT 3
#define FIELD_PART_BITS 28
#include "field_limbs.inc"
#include "field_parts.inc"

#define FIELD_WIDE WidePair
#define FIELD_MONTGOMERY montgomery_in_pairs
#define FIELD_COLUMNS PairColumns3x28
#define FIELD_COLUMN_TOTAL column_total_in_pairs
#include "field_montgomery.inc"

#if defined(WEFT_INT64)
#define FIELD_WIDE uint64_t
#define FIELD_MONTGOMERY montgomery_in_64
#define FIELD_COLUMNS Columns3x28
#define FIELD_COLUMN_TOTAL column_total_in_64
#include "field_montgomery.inc"
#endif

#include "field_end.inc"

WEFT_SHARED_BEGIN

// How many products fit columns before they must be settled, and before their total must be taken.
const uint kProducts2x32 = 64u, kProductsTotal2x32 = 65536u;

// An element from the 8 bytes that shaders load, and back.
WEFT_FN Limbs2x32 limbs2x32(uvec2 both) {
    Limbs2x32 a = {{both.x, both.y}};
    return a;
}
WEFT_FN uvec2 part_of(Limbs2x32 a, int part) {
    return uvec2(a.limb[2 * part], a.limb[2 * part + 1]);
}

WEFT_SHARED_END

#if defined(WEFT_INT64)

#define FIELD_LIMBS Limbs1x64
#define FIELD_LIMB uint64_t
#define FIELD_COUNT 1
#include "field_limbs.inc"

#include "field_end.inc"

WEFT_SHARED_BEGIN

// The same elements in 64-bit limbs: the same bytes in memory.
WEFT_FN Limbs1x64 limbs1x64(Limbs2x32 a) {
    Limbs1x64 r;
    WEFT_UNROLL for (int i = 0; i < 1; ++i) {
        r.limb[i] = (uint64_t(a.limb[2 * i + 1]) << 32) | uint64_t(a.limb[2 * i]);
    }
    return r;
}
WEFT_FN Limbs2x32 limbs2x32(Limbs1x64 a) {
    Limbs2x32 r;
    WEFT_UNROLL for (int i = 0; i < 1; ++i) {
        r.limb[2 * i] = uint(a.limb[i]);
        r.limb[2 * i + 1] = uint(a.limb[i] >> 32);
    }
    return r;
}

WEFT_SHARED_END

#endif

#endif
