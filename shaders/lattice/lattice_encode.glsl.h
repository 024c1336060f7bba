// SPDX-License-Identifier: Apache-2.0
// Lattice codes and a status byte for each vector of x. Needs lattice_interface.glsl.h and `values`, `codes`
// and `status` from the shader.

#include "lattice_group.glsl.h"
#include "lattice_load.glsl.h"

uint word, filled,
    bits;  // position in the code: next word to write, number of bits gathered for it, these bits

WEFT_GPU uint words_end() {
    return min(count * (shape.element_vectors * kVectorBits / 32), shape.code_words);
}

WEFT_GPU void put(uint value, uint width) {
    bits |= value << filled;
    filled += width;
    if (filled < 32) return;
    if (word < words_end()) codes[word] = bits;
    ++word;
    filled -= 32;
    bits = filled == 0 ? 0 : value >> (width - filled);
}

// Writes the digits of a vector and returns its status.
WEFT_GPU uint encode(uint vector, Point x) {
    if (is_base4()) {
        const Base4 code = encode_base4(x, dither_at(vector));
        if (kBits == 2) {
            put(code.digits, kVectorBits);
            return code.status;
        }
        WEFT_UNROLL for (uint w = 0; w < 4; ++w) {
            if (32 * w >= kVectorBits) continue;
            uint four = (code.digits >> (8 * w)) & 0xffu;
            four = (four | (four << 12)) & 0x000f000fu;
            put((four | (four << 6)) & 0x03030303u, min(kVectorBits - 32 * w, 32u));
        }
        return code.status;
    }
    const Result r = encode_any(x, dither_at(vector));
    WEFT_UNROLL for (uint m = 0; m < 4; ++m) {
        if (m >= kLevels) continue;
        WEFT_UNROLL for (uint i = 0; i < kDim; ++i) put(uint(r.code.level[m].v[i]), kBits);
    }
    return r.status;
}

// kLatticeInHand vectors for each thread, at distances of a workgroup, whose bits are whole words or a
// smaller power of two. All of them are read before the first one is coded, to hide the latency of memory.
WEFT_GPU void encode_group(uint first) {
    const uint local = gl_LocalInvocationID.x, size = gl_WorkGroupSize.x;
    Point x[kLatticeInHand];
    WEFT_UNROLL for (uint k = 0; k < kLatticeInHand; ++k) x[k] = load(first + k * size + local);
    WEFT_UNROLL for (uint k = 0; k < kLatticeInHand; ++k) {
        const uint at = k * size + local;
        word = (first + at) * (kVectorBits / 32);
        filled = bits = 0;
        marked[at] = encode(first + at, x[k]);
        if (kVectorBits < 32) kept[at] = bits;
    }
    barrier();
    store_statuses(first);
    if (kVectorBits >= 32) return;
    WEFT_UNROLL for (uint k = 0; k < kLatticeInHand; ++k) {
        const uint at = k * size + local, to = first * kVectorBits / 32 + at;
        if (at < kLatticeInHand * size * kVectorBits / 32 && to < words_end())
            codes[to] = together(at, kVectorBits);
    }
}

// kPerThread neighbouring vectors, whose digits and statuses fill whole words.
WEFT_GPU void encode_neighbours(uint thread) {
    uint gathered = 0;
    word = thread * (kPerThread * kVectorBits / 32);
    filled = bits = 0;
    Point next = load(thread * kPerThread);
    for (uint j = 0; j < kPerThread; ++j) {
        const uint vector = thread * kPerThread + j;
        const Point x = next;
        if (j + 1 < kPerThread) next = load(vector + 1);  // loads while x is coded
        if (kVectorBits % 32 == 0)
            filled = bits = 0;  // they are 0 already; makes every shift below a constant
        gathered |= encode(vector, x) << (8 * (j & 3));
        if ((j & 3) != 3) continue;
        if (vector / 4 < shape.status_words) status[vector / 4] = gathered;
        gathered = 0;
    }
}

WEFT_MAIN() {
    const uint stride = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    if (kPerThread != 1) {
        const uint threads = count * (shape.element_vectors / kPerThread);
        for (uint t = gl_GlobalInvocationID.x; t < threads; t += stride) encode_neighbours(t);
        return;
    }
    const uint end = vectors_end();
    for (uint first = gl_WorkGroupID.x * gl_WorkGroupSize.x * kLatticeInHand; first < end;
         first += stride * kLatticeInHand) {
        encode_group(first);
        barrier();
    }
}
