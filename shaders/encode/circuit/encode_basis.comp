// SPDX-License-Identifier: Apache-2.0
// basis: one amplitude of a state is 1, the others are 0. Every invocation stores 16 bytes at a time.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shaders/encode/encode_parameters.h"
#include "encode_turns.h"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const bool kStoreWide = false;
layout(constant_id = 2) const uint kInput = 0;  // 0 float, 1 double, 2 int64
layout(push_constant) uniform Push {
    uint count;
    uint first;
    EncodeParameters p;
};
layout(set = 0, binding = 0) readonly buffer Values { uint values[]; };
layout(set = 0, binding = 1) writeonly buffer States { uvec4 states[]; };
layout(set = 0, binding = 2) writeonly buffer Status { uvec2 status[]; };
#include "encode_basis.glsl.h"
