// SPDX-License-Identifier: Apache-2.0
// Rows of K that a list names, or its diagonal, from the numbers of samples.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "operator_interface.glsl.h"

layout(local_size_x_id = 0) in;
layout(constant_id = 2) const bool kDiagonal = false;  // an element is K[i, i]; there is no list
layout(push_constant) uniform Push {
    uint count;
    uint first;
    OperatorRowsParameters p;
};
layout(set = 0, binding = 0) readonly buffer RowSamples { Real row_samples[]; };
layout(set = 0, binding = 1) readonly buffer ColumnSamples { Real column_samples[]; };
layout(set = 0, binding = 2) readonly buffer List { uint list[]; };
layout(set = 0, binding = 3) writeonly buffer Out { Real result[]; };
#include "operator_rows.glsl.h"
