// SPDX-License-Identifier: Apache-2.0
// The parameters of the lattice kernels, and the pseudo-random numbers of their dither.
#ifndef WEFT_SHARED_LATTICE_SETTINGS_H
#define WEFT_SHARED_LATTICE_SETTINGS_H

#include "shaders/shared/portable.h"

WEFT_SHARED_BEGIN

// A status byte has the number of retries in its low 7 bits. The top bit is set if the last try overloaded
// too. All bits are set if the vector held a value that is not finite.
const uint kLatticeOverload = 0x80u;
const uint kLatticeBad = 0xffu;

// The number of vectors that a thread reads before it processes the first one, so that their loads overlap.
const uint kLatticeInHand = 4u;

struct LatticeSettings {
    float beta, inverse_beta;  // inverse_beta: 1 / beta rounded to float by the host
    uint max_retries;
    uint seed_low, seed_high;    // seed of the dither
    uint index_low, index_high;  // number of the job's vector 0 for the dither
};

// The layout of a dispatch, in vectors (tiles of d values) and 32-bit words.
struct LatticeLayout {
    uint element_vectors;  // vectors of an element of the job; `count` and `first` are in elements
    uint vectors;          // vectors of the job; later ones are padding, which is not read and coded as zero
    uint code_words, status_words;
    uint width, tiles;  // values and tiles of a row
    uint depth;         // for decode: number of levels to sum, the coarse ones first
};

// Spreads every bit over all others (the finalizer "lowbias32" of Chris Wellons' hash prospector).
WEFT_FN uint lattice_mix(uint x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

// The powers of a number of retries in the table of the host: 2^(-alpha retries), which an encoder multiplies
// by, and 2^(alpha retries), which a decoder multiplies by. Each is rounded to float once.
WEFT_FN uint lattice_shrink_at(uint retries) {
    return 2u * retries;
}
WEFT_FN uint lattice_grow_at(uint retries) {
    return 2u * retries + 1u;
}

// The key of vector `index` + `offset`, a 64-bit number in two words.
WEFT_FN uint lattice_dither_key(LatticeSettings settings, uint offset) {
    uint low = settings.index_low + offset;
    uint high = settings.index_high + (low < offset ? 1u : 0u);
    uint key = lattice_mix(settings.seed_low) ^ settings.seed_high;
    key = lattice_mix(key) ^ high;
    return lattice_mix(key) ^ low;
}

WEFT_SHARED_END

#endif
