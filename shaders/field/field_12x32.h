// SPDX-License-Identifier: Apache-2.0
// Fields of up to 383 bits: 12 limbs of 32 bits, 48 bytes an element. 48 = 3 * 16, so the widest access is
// aligned for every element.
#ifndef WEFT_SHARED_FIELD_12X32_H
#define WEFT_SHARED_FIELD_12X32_H

#include "field_wide.h"

#define FIELD_WORDS 12
#define FIELD_SHORT Limbs12x32
#define FIELD_LONG Limbs6x64
#define FIELD_TO_SHORT limbs12x32
#define FIELD_TO_LONG limbs6x64
#define FIELD_PARTS Parts14x28
#define FIELD_PART_COUNT 14
#define FIELD_PART_BITS 28
#define FIELD_PAIR_COLUMNS PairColumns14x28
#define FIELD_LONG_COLUMNS Columns14x28
#include "field_nx32.inc"

WEFT_SHARED_BEGIN

// How many products fit columns before they must be settled, and before their total must be taken.
const uint kProducts12x32 = 16u, kProductsTotal12x32 = 2048u;

// An element from the three 16-byte parts that shaders load, and back.
WEFT_FN Limbs12x32 limbs12x32(uvec4 low, uvec4 middle, uvec4 high) {
    Limbs12x32 a = {
        {low.x, low.y, low.z, low.w, middle.x, middle.y, middle.z, middle.w, high.x, high.y, high.z, high.w}};
    return a;
}
WEFT_FN uvec4 part_of(Limbs12x32 a, int part) {
    return uvec4(a.limb[4 * part], a.limb[4 * part + 1], a.limb[4 * part + 2], a.limb[4 * part + 3]);
}

WEFT_SHARED_END

#endif
