// SPDX-License-Identifier: Apache-2.0
// amplitude, long rows, third step: multiplies values by the inverse of their row's norm. An element is 16 bytes of a
// state.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shaders/encode/encode_interface.glsl.h"

layout(local_size_x_id = 0) in;
layout(push_constant) uniform Push {
    uint count;
    uint first;
    EncodeParameters p;  // features: values of a row in the bound input; slab_bits: bits of an amplitude's place in a row
};
layout(set = 0, binding = 0) readonly buffer Values { Raw values[]; };
layout(set = 0, binding = 1) readonly buffer Rows { uvec4 norms[]; };
layout(set = 0, binding = 2) writeonly buffer States { uvec4 states[]; };
#include "encode_scale.glsl.h"
