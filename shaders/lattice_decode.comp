// SPDX-License-Identifier: Apache-2.0
// The vectors that codes stand for. Digits outside [0, q) and a status that no encoder of these settings writes
// make a vector of NaN.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shared/lattice_form.h"

layout(set = 0, binding = 0) readonly buffer Codes { uint codes[]; };
layout(set = 0, binding = 1) readonly buffer Status { uint status[]; };  // one word unless kRetries
layout(set = 0, binding = 2) writeonly buffer Y { LATTICE_VALUES y[]; };
#include "shared/lattice_store.h"

const uint kVectorBits = kLevels * kDim * kBits;

uint word, used, bits;  // of the code: word at hand, bits taken of it

// The next digit. A word is read only when a bit of it is needed, so never one behind the last.
uint take() {
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

void decode(uint vector) {
    // 32 vectors are kVectorBits words.
    const uint at = (vector & 31) * kVectorBits;
    word = (vector >> 5) * kVectorBits + (at >> 5);
    used = kVectorBits % 32 == 0 ? 0 : at & 31;
    bits = codes[word];
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
    const uint s = kRetries ? (status[vector / 4] >> (8 * (vector & 3))) & 0xffu : 0;
    good = good && s != kLatticeBad && (s & 0x7fu) <= settings.max_retries;
    Point n = decode_digits(code, kQ, kInverseQ, kLevels, shape.depth);
    n = values_of(n, dither_at(vector), lattice_scale(settings, good ? s & 0x7fu : 0));
    if (!good) {
        WEFT_UNROLL for (uint i = 0; i < kDim; ++i) n.v[i] = uintBitsToFloat(0x7fc00000u);
    }
    store(vector, n);
}

void main() {
    const uint vectors = min(count * shape.element_vectors, shape.vectors);
    const uint stride = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint v = gl_GlobalInvocationID.x; v < vectors; v += stride) decode(v);
}
