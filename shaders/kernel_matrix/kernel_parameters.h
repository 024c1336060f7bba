// SPDX-License-Identifier: Apache-2.0
// The parameters that the host code of kernel matrices passes to its shaders.
#ifndef WEFT_SHARED_KERNEL_PARAMETERS_H
#define WEFT_SHARED_KERNEL_PARAMETERS_H

#include "shaders/shared/portable.h"

WEFT_SHARED_BEGIN

// All of these are push constants after `count` and `first`.

// kernel_angles.comp: cosines and sines of features, planes [qubit][cosine, sine][stride].
struct KernelAngleParameters {
    uint qubits;
    uint in_base;                // values before those of sample 0 in the bound features
    uint out_base;               // column of the planes for sample 0
    uint stride;                 // values of a plane
    uint scale_low, scale_high;  // a double
    uint wide;                   // 1: features are doubles
    uint halved;                 // 1: angles are halved
};

// kernel_product.comp: kernel values from these planes.
struct KernelProductParameters {
    uint qubits;
    uint stride;       // values of a plane
    uint row_base;     // column of the planes that holds row 0 of the job
    uint column_base;  // column of the planes that holds column 0
    uint columns;      // of the output
    uint rows;         // of the output, if it is symmetric
    uint out_base;     // values before the first in the bound output
    uint shrink_low,
        shrink_high;  // factor of all values except those of a sample with itself: a float, or a double
};

// kernel_states.comp: one pass of building states.
struct KernelStateParameters {
    uint qubits;
    uint stride;       // values of a plane
    uint column_base;  // column of the planes that holds sample 0
    uint window;       // bits of a block, 4 or more
    uint carried;  // how many of these are the lowest bits of the index, without gates; 0, or 4 below `from`
    uint from;     // bit of the index at which the others begin
    uint gates_from;  // no gate is applied to bits of the index below this one
    uint layer;       // the layer whose weights the gates have; kKernelNoLayer: none
    uint rz;          // 1: the map has RZ
    uint rows;        // samples
    // For packed states (WEFT_PACKED):
    uint padded;         // rows, including rows of zeros up to a multiple of 64
    uint packed_blocks;  // blocks of a row as defined in shaders/gram/gram_layout.h
};

const uint kKernelNoLayer = 0xffffffffu;

// kernel_norms.comp: the factors that normalise.
struct KernelNormParameters {
    uint amplitudes;
    uint before;                   // amplitudes before the first state in the bound range
    uint out_base;                 // factor of the first state
    uint jitter_low, jitter_high;  // a float in low, or a double
};

// kernel_scale.comp: multiplies a block of K by these factors.
struct KernelScaleParameters {
    uint columns;      // of the block
    uint leading;      // values between its rows
    uint before;       // values before its first in the bound range
    uint row_base;     // factor of row 0
    uint column_base;  // factor of column 0
    uint square;       // 1: rows and columns have the same factors
};

WEFT_SHARED_END

#endif
