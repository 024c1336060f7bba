// SPDX-License-Identifier: Apache-2.0
// Where the numbers of packed states lie, for shaders that build states in that order and the one that
// multiplies them.
//
// 64 rows by one step of amplitudes make a block; the blocks of 64 rows follow each other, then come the next
// 64 rows. `blocks` is the number of blocks of a row, amplitudes / step rounded up. All of it exists: rows
// and amplitudes beyond the last hold zeros.
#ifndef WEFT_SHARED_GRAM_LAYOUT_H
#define WEFT_SHARED_GRAM_LAYOUT_H

#include "shaders/shared/portable.h"

WEFT_SHARED_BEGIN

const uint kGramBlockRows = 64u;
const uint kGramStep = 8u;         // amplitudes of a block of float or double
const uint kGramMatrixStep = 16u;  // of float16
const uint kGramPlanes = 2u;       // float, double: real part, imaginary part
const uint kGramMatrixPlanes = 4u;

// Rows side by side, amplitude by amplitude, plane by plane: index among floats or doubles.
WEFT_FN uint gram_at(uint row, uint amplitude, uint plane, uint blocks) {
    const uint block = row / kGramBlockRows * blocks + amplitude / kGramStep;
    return ((block * kGramPlanes + plane) * kGramStep + amplitude % kGramStep) * kGramBlockRows +
           row % kGramBlockRows;
}

// Float16, row by row in a block; planes: high and low part of the real part, then of the imaginary part. Index
// among float16; amplitudes 2 k and 2 k + 1 share a word.
WEFT_FN uint gram_matrix_at(uint row, uint amplitude, uint plane, uint blocks) {
    const uint block = row / kGramBlockRows * blocks + amplitude / kGramMatrixStep;
    return ((block * kGramBlockRows + row % kGramBlockRows) * kGramMatrixPlanes + plane) * kGramMatrixStep +
           amplitude % kGramMatrixStep;
}

// Amplitudes of unit states times this are held in float16: the largest still fits, and the low parts of
// small ones keep their bits.
const float kGramScale = 32768.0;

// The part of a float that float16 holds, to nearest even in its mantissa. By integers, because compilers
// take float(float16_t(x)) for x, and the low part would vanish.
WEFT_FN float gram_high(float value) {
    const uint bits = floatBitsToUint(value);
    return uintBitsToFloat((bits + 0xfffu + ((bits >> 13) & 1u)) & 0xffffe000u);
}

WEFT_SHARED_END

#endif
