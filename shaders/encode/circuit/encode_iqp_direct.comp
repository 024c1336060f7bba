// SPDX-License-Identifier: Apache-2.0
// iqp of up to 6 qubits: an invocation sums the signed phases of one amplitude. A workgroup of 2^slab_bits invocations
// makes as many whole states as it has invocations for.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shaders/encode/encode_interface.glsl.h"

layout(local_size_x_id = 0) in;
layout(constant_id = 4) const uint kQubits = 0;  // 0: the number is in the push constants
layout(push_constant) uniform Push {
    uint count;
    uint first;
    EncodeParameters p;
};
layout(set = 0, binding = 0) readonly buffer Values { Raw values[]; };
layout(set = 0, binding = 1) writeonly buffer States { uvec4 states[]; };
layout(set = 0, binding = 2) writeonly buffer Status { uvec2 status[]; };
#include "encode_iqp_direct.glsl.h"
