// SPDX-License-Identifier: Apache-2.0
// The parameters that the host code of kernel operators passes to its shaders, and the layout that they
// share.
//
// The numbers of a sample are the Bloch vectors of its qubits: (sin t, cos t) for RY(t), and (sin t cos t,
// sin t sin t, cos t) where RZ(t) follows. They lie side by side in parts of equally many qubits; a part is
// filled up with numbers that are 0, and the last part also with qubits for which every kernel value is 1.
#ifndef WEFT_SHARED_OPERATOR_PARAMETERS_H
#define WEFT_SHARED_OPERATOR_PARAMETERS_H

#include "shaders/shared/portable.h"

WEFT_SHARED_BEGIN

// All of these are push constants after `count` and `first`.

// operator_bloch.comp: numbers of samples from their features.
struct OperatorBlochParameters {
    uint qubits;
    uint part_qubits;
    uint parts;
    uint part_numbers;           // with those that fill the part up
    uint in_base;                // values before those of sample 0 in the bound features
    uint out_base;               // number of sample 0
    uint scale_low, scale_high;  // a double
    uint wide;                   // 1: features are doubles
    uint rz;                     // 1: three numbers a qubit
};

// operator_apply.comp: sums of kernel values times V over splits of the columns of K.
struct OperatorApplyParameters {
    uint rows;      // of the band
    uint columns;   // of the band
    uint split;     // columns of a split, a multiple of the columns of a tile
    uint splits;    // that a row has
    uint width;     // values between rows of V
    uint in_base;   // value of V for column 0
    uint parts;     // of a sample
    uint own_base;  // value of V for row 0 (symmetric)
    uint diagonal;  // column of K in which row 0 has its diagonal (symmetric)
};

// operator_sum.comp: out = alpha * (sum of the terms) + delta * V + beta * out.
struct OperatorSumParameters {
    uint terms;       // partial sums of a value
    uint apart;       // numbers between the terms of a value
    uint term_width;  // numbers between rows of the terms
    uint columns;     // of V that the partial sums have
    uint width;       // values between rows of V and of the output
    uint in_base;     // value of V for row 0
    uint out_base;    // value of the output for row 0
    uint skip_from;   // row i has no terms before (i - skip_from) / skip_rows + 1 from row skip_from on
    uint skip_rows;   // 0: rows have all terms
    uint with_v;      // 1: delta applies
    uint with_out;    // 1: beta applies
    uint alpha_low, alpha_high, delta_low, delta_high, beta_low, beta_high;  // floats in low, or doubles
};

// operator_total.comp: totals += the terms, in fixed point.
struct OperatorTotalParameters {
    uint terms;                 // partial sums of a value
    uint apart;                 // numbers between the terms of a value
    uint term_width;            // numbers between rows of the terms
    uint columns;               // of V that the partial sums have
    uint width;                 // values between rows of the totals
    uint out_base;              // total for row 0 and the first of these columns
    uint first_column;          // of V
    uint spoilt_at;             // word of the totals that is set if a term was none
    uint skip_from, skip_rows;  // as in OperatorSumParameters
};

// operator_gather.comp and operator_scatter.comp, which multiply by way of the features of K.
struct OperatorFeatureParameters {
    uint rows;      // samples of the band
    uint numbers;   // of a sample
    uint of_qubit;  // numbers of a qubit
    uint low_qubits, high_qubits;
    uint low_count, high_count;  // features of these qubits
    uint split;                  // samples of a split, a multiple of 64 (gather)
    uint width;                  // values between rows of V (gather)
    uint in_base;                // value of V for sample 0 (gather)
};

// operator_rows.comp: rows of K, or its diagonal.
struct OperatorRowsParameters {
    uint rows;         // of the band
    uint columns;      // of the band
    uint list_base;    // row of the list that comes first
    uint column_base;  // of K, column 0 of the band
    uint out_base;     // value of the output for the first one
    uint out_width;    // values between rows of the output
    uint qubits;       // of a part
    uint parts;
    uint part_numbers;
    uint own_low, own_high;        // the diagonal: a float in low, or a double
    uint shrink_low, shrink_high;  // factor of the other values
};

// operator_block.comp: out = alpha * (block of K) * V + delta * (rows of V of the diagonal) + beta * out.
struct OperatorBlockParameters {
    uint rows;      // of the block
    uint columns;   // of the block
    uint leading;   // values between its rows
    uint before;    // values before its first one in what is bound
    uint width;     // values between rows of V and of the output
    uint in_base;   // value of V for column 0
    uint out_base;  // value of the output for row 0
    uint diagonal;  // column in which row 0 has its diagonal, modulo 2^32
    uint with_v;    // 1: delta applies
    uint with_out;  // 1: beta applies
    uint alpha_low, alpha_high, delta_low, delta_high, beta_low, beta_high;  // floats in low, or doubles
};

WEFT_SHARED_END

#endif
