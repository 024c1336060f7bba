#version 460
// SPDX-License-Identifier: Apache-2.0
// x[i] += 1, so that a dispatch has as little work as possible.
layout(local_size_x = 64) in;
layout(push_constant) uniform Push { uint count; };
layout(set = 0, binding = 0) buffer Data { uint x[]; };

void main() {
    if (gl_GlobalInvocationID.x < count) x[gl_GlobalInvocationID.x] += 1;
}
