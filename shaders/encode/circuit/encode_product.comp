// SPDX-License-Identifier: Apache-2.0
// angle, phase and iqp-z: every amplitude is the product of one factor for each qubit, selected by the qubit's bit of
// the index. A workgroup makes one slab, or as many small states as a slab holds, each by its share of the invocations.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shaders/encode/encode_interface.glsl.h"

layout(local_size_x_id = 0) in;
layout(constant_id = 2) const uint kMethod = 0;
layout(constant_id = 3) const bool kAlone = false;  // every workgroup makes a slab of one state
layout(push_constant) uniform Push {
    uint count;
    uint first;
    EncodeParameters p;
};
layout(set = 0, binding = 0) readonly buffer Values { Raw values[]; };
layout(set = 0, binding = 1) writeonly buffer States { uvec4 states[]; };
layout(set = 0, binding = 2) writeonly buffer Status { uvec2 status[]; };
#include "encode_product.glsl.h"
