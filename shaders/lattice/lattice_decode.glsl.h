// SPDX-License-Identifier: Apache-2.0
// Decodes lattice codes to vectors. Digits outside [0, q), and a status that no encoder with these settings
// writes, decode to a vector of NaN. Needs lattice_interface.glsl.h and `codes`, `status` (one word unless
// kRetries) and `y` from the shader.

#include "lattice_store.glsl.h"
#if LATTICE_STAGED
#include "lattice_staged.glsl.h"
#endif

uint word, used, bits;  // position in the code: index of the current word, bits taken of it, the word itself

// The next digit. A word is read only when a bit of it is needed, so no word after the last one is read.
WEFT_GPU uint take() {
    if (used >= 32) {
        bits = codes[++word];
        used -= 32;
    }
    uint digit = bits >> used;
    used += kBits;
    if (used > 32) {
        used -= 32;
        bits = codes[++word];
        digit |= bits << (kBits - used);
    }
    return digit & ((1u << kBits) - 1);
}

// The point of the next digits. Returns whether all of them are below q.
WEFT_GPU bool decode_any(WEFT_OUT(Point) n) {
    Code code;
    code.rest = zero_point();
    bool good = true;
    WEFT_UNROLL for (uint m = 0; m < 4; ++m) {
        code.level[m] = zero_point();
        if (m >= kLevels) continue;
        WEFT_UNROLL for (uint i = 0; i < kDim; ++i) {
            code.level[m].v[i] = float(take());
            if (kQ != float(1u << kBits)) good = good && code.level[m].v[i] < kQ;
        }
    }
    n = decode_digits(code, kQ, kInverseQ, kLevels, shape.depth);
    return good;
}

// For base 4. A vector is a part of a word or a number of whole words.
WEFT_GPU bool decode_base4(WEFT_OUT(Point) n) {
    uint digits = bits >> used, strange = 0;
    if (kBits == 8) {
        digits = 0;
        WEFT_UNROLL for (uint w = 0; w < 4; ++w) {
            if (32 * w >= kVectorBits) continue;
            uint four = w == 0 ? bits >> used : codes[word + w];
            if (kVectorBits < 32) four &= 0xffffu;
            strange |= four & 0xfcfcfcfcu;
            four = (four | (four >> 6)) & 0x000f000fu;
            digits |= ((four | (four >> 12)) & 0xffu) << (8 * w);
        }
    }
    Bytes zero;
    WEFT_UNROLL for (uint k = 0; k < uint(LATTICE_BYTE_WORDS); ++k) zero.v[k] = 0;
    n = base4_decode(digits, kLevels, shape.depth, zero);
    return strange == 0;
}

// The data of a vector that is loaded first.
struct Start {
    uint word, used, bits, status;
};

WEFT_GPU Start start_of(uint vector) {
    // 32 vectors are kVectorBits words.
    const uint at = (vector & 31) * kVectorBits;
    Start s;
    s.word = (vector >> 5) * kVectorBits + (at >> 5);
    s.used = kVectorBits % 32 == 0 ? 0 : at & 31;
    s.bits = vector < vectors_end() ? codes[s.word] : 0;
    // Without statuses the value is 0, because the depth is small, but compilers cannot know this. If the
    // selection of NaN is folded away, NVIDIA's code takes 318 us for 2^24 vectors of E8 on an H200; with it,
    // 183 us.
    s.status = kRetries && vector < vectors_end() ? status[vector / 4] : s.bits & (shape.depth >> 31);
    return s;
}

WEFT_GPU Point decode(uint vector, Start start) {
    word = start.word;
    used = start.used;
    bits = start.bits;
    Point n;
    bool good;
    if (is_base4()) {
        good = decode_base4(n);
    } else {
        good = decode_any(n);
    }
    const uint s = (start.status >> (8 * (vector & 3))) & 0xffu;
    good = good && s != kLatticeBad && (s & 0x7fu) <= settings.max_retries;
    n = values_of(n, dither_at(vector), scale_of(good ? s & 0x7fu : 0));
    if (!good) {
        WEFT_UNROLL for (uint i = 0; i < kDim; ++i) n.v[i] = uintBitsToFloat(0x7fc00000u);
    }
    return n;
}

WEFT_MAIN() {
    const uint end = vectors_end(), size = gl_WorkGroupSize.x, local = gl_LocalInvocationID.x;
    const uint stride = gl_NumWorkGroups.x * size * kLatticeInHand;
    for (uint begin = gl_WorkGroupID.x * size * kLatticeInHand; begin < end; begin += stride) {
        Start s[kLatticeInHand];
        WEFT_UNROLL for (uint k = 0; k < kLatticeInHand; ++k) s[k] = start_of(begin + k * size + local);
        WEFT_UNROLL for (uint k = 0; k < kLatticeInHand; ++k) {
            const uint v = begin + k * size + local;
#if LATTICE_STAGED
            if (kStaged) {
                Point n = zero_point();
                if (v < end) n = decode(v, s[k]);
                store_staged(v - local, n, k);
                continue;
            }
#endif
            if (v < end) store(v, decode(v, s[k]));
        }
    }
}
