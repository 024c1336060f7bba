// SPDX-License-Identifier: Apache-2.0
// Fields of 64 bits without a spare one: 2 limbs of 32 bits, 8 bytes an element.
#ifndef WEFT_SHARED_FIELD_2X32_H
#define WEFT_SHARED_FIELD_2X32_H

#include "field_wide.h"

#define FIELD_WORDS 2
#define FIELD_SHORT Limbs2x32
#define FIELD_LONG Limbs1x64
#define FIELD_TO_SHORT limbs2x32
#define FIELD_TO_LONG limbs1x64
#define FIELD_PARTS Parts3x28
#define FIELD_PART_COUNT 3
#define FIELD_PART_BITS 28
#define FIELD_PAIR_COLUMNS PairColumns3x28
#define FIELD_LONG_COLUMNS Columns3x28
#include "field_nx32.inc"

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

#endif
