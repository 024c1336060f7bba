// SPDX-License-Identifier: Apache-2.0
// Sums of kernel values times V, without storing K. K[i, j] is the product over the qubits of 1/2 + a . b / 2 with the
// Bloch vectors a of row i and b of column j. An invocation has the numbers of kRows rows in registers; the workgroup
// walks over tiles of columns in shared memory, whose numbers all invocations read at the same time.
//
// Sums are made in levels: over a tile, over the tiles of a split, and over the splits by operator_sum.comp.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "operator_interface.glsl.h"

layout(local_size_x_id = 0) in;
layout(constant_id = 2) const uint kQubits = 8;   // of a part
layout(constant_id = 3) const uint kNumbers = 3;  // of a qubit
layout(constant_id = 4) const uint kRows = 4;     // of an invocation
layout(constant_id = 5) const uint kWidth = 1;    // columns of V
layout(constant_id = 6) const uint kTile = 64;    // columns of K in shared memory
layout(constant_id = 7) const uint kTogether = 2;  // columns of K in straight code; a divisor of kTile
// Samples have several parts. The kernel values of kTile columns stay in registers from part to part.
layout(constant_id = 8) const bool kParts = false;
// Each kernel value left of the diagonal block also serves the row of its column: `other` gets these sums.
layout(constant_id = 9) const bool kSymmetric = false;
// Columns of K in straight code there. Measured on an NVIDIA H200: more or fewer take up to a tenth longer.
const uint kTwiceTogether = 2;
layout(push_constant) uniform Push {
    uint count;
    uint first;
    OperatorApplyParameters p;
};
layout(set = 0, binding = 0) readonly buffer RowSamples { Real4 row_samples[]; };
layout(set = 0, binding = 1) readonly buffer ColumnSamples { Real4 column_samples[]; };
layout(set = 0, binding = 2) readonly buffer Values { Real v[]; };
layout(set = 0, binding = 3) writeonly buffer Sums { Real sums[]; };      // [split][row][kWidth]
layout(set = 0, binding = 4) writeonly buffer OtherSums { Real other[]; };  // [block of rows][column][kWidth]
#include "operator_apply.glsl.h"
