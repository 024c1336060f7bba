// SPDX-License-Identifier: Apache-2.0
// What the host code of kernel matrices passes to its shaders.
#ifndef WEFT_SHARED_KERNEL_PARAMETERS_H
#define WEFT_SHARED_KERNEL_PARAMETERS_H

#include "shaders/shared/portable.h"

WEFT_SHARED_BEGIN

// Push constants behind `count` and `first`, as all of these.

// kernel_angles.comp: cosines and sines of features, planes [qubit][cosine, sine][stride].
struct KernelAngleParameters {
    uint qubits;
    uint in_base;                // values before those of sample 0 in the bound features
    uint out_base;               // column of the planes that sample 0 goes to
    uint stride;                 // values of a plane
    uint scale_low, scale_high;  // a double
    uint wide;                   // 1: features are doubles
    uint halved;                 // 1: of half the angle
};

// kernel_product.comp: those planes to kernel values.
struct KernelProductParameters {
    uint qubits;
    uint stride;       // values of a plane
    uint row_base;     // column of the planes that holds row 0 of the job
    uint column_base;  // column of the planes that holds column 0
    uint columns;      // of the output
    uint rows;         // of the output, where it is symmetric
    uint out_base;     // values before the first in the bound output
    uint shrink_low,
        shrink_high;  // factor of all values but those of a sample with itself: a float, or a double
};

// kernel_states.comp: one pass of building states.
struct KernelStateParameters {
    uint qubits;
    uint stride;       // values of a plane
    uint column_base;  // column of the planes that holds sample 0
    uint window;       // bits of a block, 4 or more
    uint carried;      // of these, lowest bits of the index that only come along; 0, or 4 below `from`
    uint from;         // bit of the index that the others begin at
    uint gates_from;   // bit of the index below which no gate is applied
    uint layer;        // weights of the gates; kKernelNoLayer: without
    uint rz;           // 1: the map has RZ
    uint rows;         // samples
    // Where states are packed (WEFT_PACKED):
    uint padded;         // rows, those of zeros that make 64 of the last ones included
    uint packed_blocks;  // of a row, as shaders/gram/gram_layout.h has them
};

const uint kKernelNoLayer = 0xffffffffu;

// kernel_norms.comp: factors that normalise.
struct KernelNormParameters {
    uint amplitudes;
    uint before;                   // amplitudes before the first state in the bound range
    uint out_base;                 // factor of the first state
    uint jitter_low, jitter_high;  // a float in low, or a double
};

// kernel_scale.comp: a block of K times those factors.
struct KernelScaleParameters {
    uint columns;      // of the block
    uint leading;      // values between its rows
    uint before;       // values before its first in the bound range
    uint row_base;     // factor of row 0
    uint column_base;  // factor of column 0
    uint square;       // 1: factors of rows are those of columns
};

WEFT_SHARED_END

#endif
