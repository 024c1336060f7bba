#version 460
// SPDX-License-Identifier: Apache-2.0
// A block of fixed size, which every chunk of a job must hold.
layout(local_size_x = 64) in;
layout(push_constant) uniform Push { uint count, first; };
layout(set = 0, binding = 0) readonly buffer X { float x[1024]; };
layout(set = 0, binding = 1) writeonly buffer Y { float y[]; };

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i < count) y[i] = x[1023 - i % 1024];
}
