// SPDX-License-Identifier: Apache-2.0
// The parameters that encode's host code passes to its shaders, and the status that they return.
#ifndef WEFT_SHARED_ENCODE_PARAMETERS_H
#define WEFT_SHARED_ENCODE_PARAMETERS_H

#include "shaders/shared/portable.h"

WEFT_SHARED_BEGIN

// Push constants after `count` and `first`. An element is a state, or a slab of 2^slab_bits amplitudes if a
// state is larger than that.
struct EncodeParameters {
    uint features;  // values of a sample
    uint qubits;
    uint slab_bits;  // an element has at most 2^slab_bits amplitudes
    uint in_base;    // values before those of sample 0 in the bound input
    uint base;       // element that `first` counts from; element 0 belongs to sample 0 of the bound input
    uint row_base;   // index of sample 0 of the bound input among all samples
    uint flags;
};

const uint kEncodeCheckOnly = 1u;    // write the status and do not write the states
const uint kEncodeStatusByRow = 2u;  // status[sample]; otherwise status[element of this dispatch]
const uint kEncodePaired = 4u;       // two values of the input may be loaded together

// The values of word x of a status; y is the position of the first value that caused it.
const uint kEncodeGood = 0u;
const uint kEncodeZeroNorm = 1u;
const uint kEncodeNaN = 2u;
const uint kEncodeInfinite = 3u;
const uint kEncodeNegative = 4u;
const uint kEncodeFractional = 5u;
const uint kEncodeOutOfRange = 6u;
const uint kEncodeInexact = 7u;

// Methods of encode_product.comp, its specialization constant 2.
const uint kEncodeAngle = 0u;
const uint kEncodePhase = 1u;
const uint kEncodeIqpZ = 2u;

WEFT_SHARED_END

#endif
