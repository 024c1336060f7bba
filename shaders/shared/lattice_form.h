// SPDX-License-Identifier: Apache-2.0
// What the lattice_*.comp have in common: the lattice that WEFT_LATTICE names, the constants that make a
// shader of it, and how vectors lie in memory. With WEFT_ROWS defined rows have any width and their last tile
// is padded with zeros; without, vectors follow each other and are read and written with wide accesses.
#ifndef WEFT_SHARED_LATTICE_FORM_H
#define WEFT_SHARED_LATTICE_FORM_H

#if WEFT_LATTICE == 2
#include "lattice_z2.h"
#define Point Z2Point
#define Code Z2Code
#define Result Z2Result
#define Base4 Z2Base4
#define Bytes Z2Bytes
#define WIDE vec2
#elif WEFT_LATTICE == 4
#include "lattice_d4.h"
#define Point D4Point
#define Code D4Code
#define Result D4Result
#define Base4 D4Base4
#define Bytes D4Bytes
#define WIDE vec4
#else
#include "lattice_e8.h"
#define Point E8Point
#define Code E8Code
#define Result E8Result
#define Base4 E8Base4
#define Bytes E8Bytes
#define WIDE vec4
#endif

const uint kDim = WEFT_LATTICE;

layout(local_size_x = 256, local_size_x_id = 0) in;
layout(constant_id = 1) const float kQ = 4.0;
layout(constant_id = 2) const float kInverseQ = 0.25;
layout(constant_id = 3) const uint kLevels = 2;
layout(constant_id = 4) const uint kBits = 8;       // of a digit in the code
layout(constant_id = 5) const uint kPerThread = 4;  // neighbours of a thread; 1: see lattice_group.h
layout(constant_id = 6) const bool kDither = false;
layout(constant_id = 7) const bool kRetries = false;

layout(push_constant) uniform Push {
    uint count, first;
    LatticeSettings settings;
    LatticeLayout shape;
};

#if defined(WEFT_ROWS)
#define LATTICE_VALUES float
#else
#define LATTICE_VALUES WIDE
#endif

Point zero_point() {
    Point x;
    WEFT_UNROLL for (uint i = 0; i < kDim; ++i) x.v[i] = 0.0;
    return x;
}

Point dither_at(uint vector) {
    if (!kDither) return zero_point();
    const uint key = lattice_dither_key(settings, first * shape.element_vectors + vector);
    return dither_of(key, zero_point());
}

// Vectors that exist.
uint vectors_end() {
    return min(count * shape.element_vectors, shape.vectors);
}

const uint kVectorBits = kLevels * kDim * kBits;

// See lattice_base4.h. A function, as floats make no specialization constants.
bool is_base4() {
    return kQ == 4.0 && kLevels <= 2;
}

LatticeSettings tries() {
    LatticeSettings s = settings;
    if (!kRetries) s.max_retries = 0;
    return s;
}

#endif
