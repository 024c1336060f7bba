// SPDX-License-Identifier: Apache-2.0
// Fields of up to 255 bits: 8 limbs of 32 bits, 32 bytes an element.
#ifndef WEFT_SHARED_FIELD_8X32_H
#define WEFT_SHARED_FIELD_8X32_H

#include "field_wide.h"

#define FIELD_LIMBS Limbs8x32
#define FIELD_LIMB uint
#define FIELD_COUNT 8
#define FIELD_PARTS Parts9x29
#define FIELD_PART_COUNT 9
#define FIELD_PART_BITS 29
#include "field_limbs.inc"
#include "field_parts.inc"

#define FIELD_WIDE WidePair
#define FIELD_MONTGOMERY montgomery_in_pairs
#define FIELD_COLUMNS PairColumns9x29
#define FIELD_COLUMN_TOTAL column_total_in_pairs
#include "field_montgomery.inc"

#if defined(WEFT_INT64)
#define FIELD_WIDE uint64_t
#define FIELD_MONTGOMERY montgomery_in_64
#define FIELD_COLUMNS Columns9x29
#define FIELD_COLUMN_TOTAL column_total_in_64
#include "field_montgomery.inc"
#endif

#include "field_end.inc"

WEFT_SHARED_BEGIN

// How many products fit columns before they must be settled, and before their total must be taken.
const uint kProducts8x32 = 4u, kProductsTotal8x32 = 64u;

// An element from the two 16-byte parts that shaders load, and back.
WEFT_FN Limbs8x32 limbs8x32(uvec4 low, uvec4 high) {
    Limbs8x32 a = {{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
    return a;
}
WEFT_FN uvec4 part_of(Limbs8x32 a, int part) {
    return uvec4(a.limb[4 * part], a.limb[4 * part + 1], a.limb[4 * part + 2], a.limb[4 * part + 3]);
}

WEFT_SHARED_END

#if defined(WEFT_INT64)

#define FIELD_LIMBS Limbs4x64
#define FIELD_LIMB uint64_t
#define FIELD_COUNT 4
#include "field_limbs.inc"

#include "field_end.inc"

WEFT_SHARED_BEGIN

// The same elements in 64-bit limbs: the same bytes in memory.
WEFT_FN Limbs4x64 limbs4x64(Limbs8x32 a) {
    Limbs4x64 r;
    WEFT_UNROLL for (int i = 0; i < 4; ++i) {
        r.limb[i] = (uint64_t(a.limb[2 * i + 1]) << 32) | uint64_t(a.limb[2 * i]);
    }
    return r;
}
WEFT_FN Limbs8x32 limbs8x32(Limbs4x64 a) {
    Limbs8x32 r;
    WEFT_UNROLL for (int i = 0; i < 4; ++i) {
        r.limb[2 * i] = uint(a.limb[i]);
        r.limb[2 * i + 1] = uint(a.limb[i] >> 32);
    }
    return r;
}

WEFT_SHARED_END

#endif

#endif
