#version 460
// SPDX-License-Identifier: Apache-2.0
// A buffer that is read and written; block with count and first.
layout(local_size_x = 64) in;
layout(push_constant) uniform Push { uint count, first; };
layout(set = 0, binding = 0) buffer Data { uint x[]; };

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i < count) x[i] += 1000 + first + i;
}
