// SPDX-License-Identifier: Apache-2.0
// Fields of up to 255 bits: 8 limbs of 32 bits, 32 bytes an element.
#ifndef WEFT_SHARED_FIELD_8X32_H
#define WEFT_SHARED_FIELD_8X32_H

#include "field_wide.h"

#define FIELD_WORDS 8
#define FIELD_SHORT Limbs8x32
#define FIELD_LONG Limbs4x64
#define FIELD_TO_SHORT limbs8x32
#define FIELD_TO_LONG limbs4x64
#define FIELD_PARTS Parts9x29
#define FIELD_PART_COUNT 9
#define FIELD_PART_BITS 29
#define FIELD_PAIR_COLUMNS PairColumns9x29
#define FIELD_LONG_COLUMNS Columns9x29
#include "field_nx32.inc"

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

#endif
