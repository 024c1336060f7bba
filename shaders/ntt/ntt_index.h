// SPDX-License-Identifier: Apache-2.0
// Bits of indices: reversed, and moved apart. WEFT_REVERSE_WORD is an instruction that reverses all bits,
// where the language has one.
#ifndef WEFT_SHARED_NTT_INDEX_H
#define WEFT_SHARED_NTT_INDEX_H

#include "shaders/shared/portable.h"

WEFT_SHARED_BEGIN

// The lowest `bits` bits of value reversed; the others must be 0. bits is at most 32.
WEFT_FN uint reversed_bits(uint value, uint bits) {
#if defined(WEFT_REVERSE_WORD)
    uint r = WEFT_REVERSE_WORD(value);
#else
    uint r = value;
    r = ((r & 0x55555555u) << 1) | ((r >> 1) & 0x55555555u);
    r = ((r & 0x33333333u) << 2) | ((r >> 2) & 0x33333333u);
    r = ((r & 0x0f0f0f0fu) << 4) | ((r >> 4) & 0x0f0f0f0fu);
    r = ((r & 0x00ff00ffu) << 8) | ((r >> 8) & 0x00ff00ffu);
    r = (r << 16) | (r >> 16);
#endif
    return bits == 0u ? 0u : r >> (32u - bits);
}

WEFT_FN uint low_mask(uint bits) {
    return (1u << bits) - 1u;
}

// value with `bits` zeros inserted at bit `at`.
WEFT_FN uint with_gap(uint value, uint at, uint bits) {
    uint below = value & low_mask(at);
    return ((value - below) << bits) | below;
}

WEFT_SHARED_END

#endif
