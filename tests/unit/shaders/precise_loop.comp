#version 450
// SPDX-License-Identifier: Apache-2.0
// A sum that is right only if no iteration of the loop is fused or reassociated.
#extension GL_EXT_control_flow_attributes : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Values {
    float x[];
};

void main() {
    const uint first = gl_GlobalInvocationID.x * 4;
    [[unroll]] for (uint i = 0; i < 4; ++i) {
        precise float moved = x[first + i] * 0.03125 + 12582912.0;
        precise float whole = moved - 12582912.0;
        x[first + i] = whole;
    }
}
