// SPDX-License-Identifier: Apache-2.0
// The base field of BLS12-381: 381 bits, 48 bytes an element, as 12 limbs of 32 bits or 6 of 64 bits. Both
// have the same bytes in memory, so shaders of either kind share buffers.
#ifndef WEFT_SHARED_FIELD_BLS12_381_FP_H
#define WEFT_SHARED_FIELD_BLS12_381_FP_H

#include "portable.h"

// p, least significant first, in pairs WORDS(high 32 bits, low 32 bits).
// clang-format off
#define WEFT_BLS12_381_FP_MODULUS(WORDS)                              \
    WORDS(0xb9feffffu, 0xffffaaabu), WORDS(0x1eabfffeu, 0xb153ffffu), \
    WORDS(0x6730d2a0u, 0xf6b0f624u), WORDS(0x64774b84u, 0xf38512bfu), \
    WORDS(0x4b1ba7b6u, 0x434bacd7u), WORDS(0x1a0111eau, 0x397fe69au)
// clang-format on
#define WEFT_WORDS_AS_32(high, low) low, high
#define WEFT_WORDS_AS_64(high, low) ((uint64_t(high) << 32) | uint64_t(low))

#define FIELD_LIMBS Limbs12x32
#define FIELD_LIMB uint
#define FIELD_COUNT 12
#include "field_limbs.h"

WEFT_SHARED_BEGIN

WEFT_FN Limbs12x32 bls12_381_fp_modulus32() {
    const Limbs12x32 p = {{WEFT_BLS12_381_FP_MODULUS(WEFT_WORDS_AS_32)}};
    return p;
}

// An element from its three 16-byte parts, which is how shaders load it, and back: 48 = 3 * 16, so the widest
// access is aligned for every element.
WEFT_FN Limbs12x32 limbs12x32(uvec4 low, uvec4 middle, uvec4 high) {
    const Limbs12x32 a = {
        {low.x, low.y, low.z, low.w, middle.x, middle.y, middle.z, middle.w, high.x, high.y, high.z, high.w}};
    return a;
}
WEFT_FN uvec4 part_of(Limbs12x32 a, int part) {
    return uvec4(a.limb[4 * part], a.limb[4 * part + 1], a.limb[4 * part + 2], a.limb[4 * part + 3]);
}

WEFT_SHARED_END

#if defined(WEFT_INT64)

#define FIELD_LIMBS Limbs6x64
#define FIELD_LIMB uint64_t
#define FIELD_COUNT 6
#include "field_limbs.h"

WEFT_SHARED_BEGIN

WEFT_FN Limbs6x64 bls12_381_fp_modulus64() {
    const Limbs6x64 p = {{WEFT_BLS12_381_FP_MODULUS(WEFT_WORDS_AS_64)}};
    return p;
}

WEFT_FN Limbs6x64 limbs6x64(uvec4 low, uvec4 middle, uvec4 high) {
    const Limbs6x64 a = {{WEFT_WORDS_AS_64(low.y, low.x), WEFT_WORDS_AS_64(low.w, low.z),
                          WEFT_WORDS_AS_64(middle.y, middle.x), WEFT_WORDS_AS_64(middle.w, middle.z),
                          WEFT_WORDS_AS_64(high.y, high.x), WEFT_WORDS_AS_64(high.w, high.z)}};
    return a;
}
WEFT_FN uvec4 part_of(Limbs6x64 a, int part) {
    const uint64_t low = a.limb[2 * part], high = a.limb[2 * part + 1];
    return uvec4(uint(low), uint(low >> 32), uint(high), uint(high >> 32));
}

WEFT_SHARED_END

#endif

#endif
