// SPDX-License-Identifier: Apache-2.0
// Lattice codes and a status byte for each vector of x. A thread codes kPerThread neighbours, whose digits and
// status fill whole words.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shared/lattice_form.h"

layout(set = 0, binding = 0) readonly buffer X { LATTICE_VALUES values[]; };
layout(set = 0, binding = 1) writeonly buffer Codes { uint codes[]; };
layout(set = 0, binding = 2) writeonly buffer Status { uint status[]; };
#include "shared/lattice_load.h"

const uint kVectorBits = kLevels * kDim * kBits;

uint word, filled, bits;  // of the code: word to write next, bits gathered for it

void put(uint digit) {
    bits |= digit << filled;
    filled += kBits;
    if (filled < 32) return;
    if (word < shape.code_words) codes[word] = bits;
    ++word;
    filled -= 32;
    bits = filled == 0 ? 0 : digit >> (kBits - filled);
}

void main() {
    const uint threads = count * (shape.element_vectors / kPerThread);
    const uint stride = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint t = gl_GlobalInvocationID.x; t < threads; t += stride) {
        uint gathered = 0;
        word = t * (kPerThread * kVectorBits / 32);
        filled = bits = 0;
        Point next = load(t * kPerThread);
        for (uint j = 0; j < kPerThread; ++j) {
            const uint vector = t * kPerThread + j;
            const Point x = next;
            if (j + 1 < kPerThread) next = load(vector + 1);  // under way while x is coded
            if (kVectorBits % 32 == 0) filled = bits = 0;  // true anyway; makes every shift below a constant
            const Result r = encode_vector(x, dither_at(vector), tries(), kQ, kInverseQ, kLevels);
            WEFT_UNROLL for (uint m = 0; m < 4; ++m) {
                if (m >= kLevels) continue;
                WEFT_UNROLL for (uint i = 0; i < kDim; ++i) put(uint(r.code.level[m].v[i]));
            }
            gathered |= r.status << (8 * (j & 3));
            if ((j & 3) != 3) continue;
            if (vector / 4 < shape.status_words) status[vector / 4] = gathered;
            gathered = 0;
        }
    }
}
