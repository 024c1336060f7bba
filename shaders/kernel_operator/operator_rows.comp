// SPDX-License-Identifier: Apache-2.0
// Rows of K that a list names, or its diagonal, from the numbers of samples. A workgroup has kRows rows; an invocation has
// values of each of them with kColumns columns in registers, so that a number is read once for many values.
#version 450
#extension GL_GOOGLE_include_directive : require
// On devices that load lane by lane, as software devices do, numbers are read in words of eight bytes.
#if defined(WEFT_LANES)
#define WEFT_FLOAT64
#endif
#include "operator_interface.glsl.h"

layout(local_size_x_id = 0) in;
// Values of samples with themselves, one for an invocation, and kRows = kColumns = 1. `count` counts invocations then,
// and workgroups otherwise.
layout(constant_id = 2) const bool kOwn = false;
layout(constant_id = 3) const uint kNumbers = 3;  // of a qubit
layout(constant_id = 4) const uint kRows = 8;
layout(constant_id = 5) const uint kColumns = 4;
layout(constant_id = 6) const bool kListed = true;  // rows are those of the list
layout(push_constant) uniform Push {
    uint count;
    uint first;
    OperatorRowsParameters p;
};
#if defined(WEFT_LANES)
layout(set = 0, binding = 0) readonly buffer RowSamples { double row_words[]; };
layout(set = 0, binding = 1) readonly buffer ColumnSamples { double column_words[]; };
#else
layout(set = 0, binding = 0) readonly buffer RowSamples { Real row_samples[]; };
layout(set = 0, binding = 1) readonly buffer ColumnSamples { Real column_samples[]; };
#endif
layout(set = 0, binding = 2) readonly buffer List { uint list[]; };
layout(set = 0, binding = 3) writeonly buffer Out { Real result[]; };
#include "operator_rows.glsl.h"
