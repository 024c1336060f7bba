// SPDX-License-Identifier: Apache-2.0
// Sums over features of features times the weights that operator_gather.comp has left: a workgroup makes the sums of 32
// rows, over tiles of 32 high features, of which an invocation has 4 for each of 4 rows.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "operator_interface.glsl.h"

layout(local_size_x = 64) in;
layout(push_constant) uniform Push {
    uint count;
    uint first;
    OperatorFeatureParameters p;
};
layout(set = 0, binding = 0) readonly buffer Samples { Real samples[]; };
layout(set = 0, binding = 1) readonly buffer Weights { Real weights[]; };  // [high][low]
layout(set = 0, binding = 2) writeonly buffer Sums { Real sums[]; };       // [row]
#include "operator_scatter.glsl.h"
