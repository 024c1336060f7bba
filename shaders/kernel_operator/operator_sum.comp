// SPDX-License-Identifier: Apache-2.0
// Adds up partial sums: out = alpha * (sum of the terms) + delta * V + beta * out. An element is a value of the output.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "operator_interface.glsl.h"

layout(local_size_x_id = 0) in;
layout(push_constant) uniform Push {
    uint count;
    uint first;
    OperatorSumParameters p;
};
layout(set = 0, binding = 0) readonly buffer Terms { Real terms[]; };
layout(set = 0, binding = 1) readonly buffer Values { Real v[]; };
layout(set = 0, binding = 2) buffer Out { Real result[]; };
#include "operator_sum.glsl.h"
