// SPDX-License-Identifier: Apache-2.0
// The layout of packed states, for the shaders that build states in this order and those that multiply them.
//
// 64 rows by one step of amplitudes form a block. The blocks of 64 rows follow each other, and then those of
// the next 64 rows. `blocks` is the number of blocks of a row, amplitudes / step rounded up. Blocks are
// always complete: rows and amplitudes beyond the last hold zeros.
#ifndef WEFT_SHARED_GRAM_LAYOUT_H
#define WEFT_SHARED_GRAM_LAYOUT_H

#include "shaders/shared/portable.h"

WEFT_SHARED_BEGIN

const uint kGramBlockRows = 64u;
const uint kGramStep = 8u;         // amplitudes of a block of float or double
const uint kGramMatrixStep = 16u;  // of float16
const uint kGramPlanes = 2u;       // float, double: real part, imaginary part
const uint kGramMatrixPlanes = 4u;

// The index among floats or doubles. A block is stored plane by plane, amplitude by amplitude, rows side by
// side.
WEFT_FN uint gram_at(uint row, uint amplitude, uint plane, uint blocks) {
    const uint block = row / kGramBlockRows * blocks + amplitude / kGramStep;
    return ((block * kGramPlanes + plane) * kGramStep + amplitude % kGramStep) * kGramBlockRows +
           row % kGramBlockRows;
}

// The index among float16. A block is stored row by row; the planes are the high and the low part of the real
// part, then those of the imaginary part. Amplitudes 2 k and 2 k + 1 share a word.
WEFT_FN uint gram_matrix_at(uint row, uint amplitude, uint plane, uint blocks) {
    const uint block = row / kGramBlockRows * blocks + amplitude / kGramMatrixStep;
    return ((block * kGramBlockRows + row % kGramBlockRows) * kGramMatrixPlanes + plane) * kGramMatrixStep +
           amplitude % kGramMatrixStep;
}

// Amplitudes of unit states are multiplied by this for float16: the largest amplitude still fits, and the low
// parts of small ones keep their bits.
const float kGramScale = 32768.0;

// A float rounded to the mantissa of float16, to nearest even. It uses integers, because some compilers
// replace float(float16_t(x)) by x, and the low part would vanish.
WEFT_FN float gram_high(float value) {
    const uint bits = floatBitsToUint(value);
    return uintBitsToFloat((bits + 0xfffu + ((bits >> 13) & 1u)) & 0xffffe000u);
}

WEFT_SHARED_END

#endif
