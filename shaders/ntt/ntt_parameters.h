// SPDX-License-Identifier: Apache-2.0
// What C++, GLSL and CUDA agree on: parameters of a pass, its flags, and how many bits an invocation
// transforms.
//
// A transform of N = 2^log_size elements takes passes. Each transforms some bits of the index; the positions
// of elements are those of the order natural -> bit-reversed, in which every pass works in place: the first
// pass transforms the highest bits, and its results replace them in bit-reversed order. What other orders
// change is where an element of a position lies in memory: at the position, or at the position with its bits
// reversed.
//
// A workgroup holds a tile of 2^kTileBits elements: 2^pass_bits rows, which are the bits that the pass
// transforms, and columns, which are other bits of the position or of the number of the transform.
#ifndef WEFT_SHARED_NTT_PARAMETERS_H
#define WEFT_SHARED_NTT_PARAMETERS_H

#include "shaders/shared/portable.h"

WEFT_SHARED_BEGIN

struct NttParameters {
    // The compact shader reads the first three here, the other one has constants in their place.
    uint pass_bits;  // bits that the pass transforms
    uint zero_bits;  // of the first step: upper halves that count as zero
    uint flags;      // kNtt...
    uint log_size;
    uint low;                 // the lowest bit that the pass transforms
    uint column_low;          // the lowest bit of the columns; from log_size on they are transforms
    uint batch;               // transforms
    uint in_elements;         // positions from here on count as zero
    uint out_elements;        // positions in memory from here on are not stored
    uint in_stride, in_next;  // elements from one position to the next, and from one transform to the next
    uint out_stride, out_next;
    // Entries of tables, from the first one of the table buffer.
    uint roots;  // powers of the root of order 2^root_bits
    uint root_bits;
    // Twiddle factors after this pass, of the index below the pass: [row][its part below 2^split], and of the
    // part above [its part below 2^split_top][row] and [the rest][row].
    uint factors, factors_high, factors_top;
    uint split, split_top;
    // Powers of the coset, from the first entry of the scale buffer: below 2^scale_split, and multiples of
    // it.
    uint scale_high, scale_split;
    // An entry of the quick tables: factors after each step but the last, [the bits that it transforms][the
    // lower ones].
    uint quick_roots;
};

// Flags of a pass.
const uint kNttLoadReversed = 1u;   // memory of the input is in bit-reversed order
const uint kNttStoreReversed = 2u;  // memory of the output
const uint kNttLoadStaged = 4u;     // through shared memory, so that neighbours load neighbours
const uint kNttStoreStaged = 8u;
const uint kNttLoadColumns = 16u;  // neighbouring invocations have neighbouring columns, else rows
const uint kNttStoreColumns = 32u;
const uint kNttFactors = 64u;           // multiplies by `factors` in the end
const uint kNttFactorsHigh = 128u;      // and by `factors_high`
const uint kNttFactorsTop = 32768u;     // which are multiplied by `factors_top`
const uint kNttRowFactors = 65536u;     // these products are made once for each row of a tile
const uint kNttScaleFirst = 256u;       // multiplies by powers of the coset before
const uint kNttScaleLast = 512u;        // or after, by those of the index in natural order
const uint kNttScaleOne = 1024u;        // or after, by the first entry of the scale buffer
const uint kNttInLimited = 2048u;       // in_elements counts
const uint kNttOutLimited = 4096u;      // out_elements counts
const uint kNttBatchLimited = 8192u;    // columns may lie beyond the last transform
const uint kNttTilesReversed = 16384u;  // neighbouring tiles are neighbours in memory of bit-reversed order

WEFT_SHARED_END

#endif
