#version 460
// SPDX-License-Identifier: Apache-2.0
// The block has the count alone.
layout(local_size_x = 32) in;
layout(push_constant) uniform Push { uint count; };
layout(set = 0, binding = 0) readonly buffer In { uint x[]; };
layout(set = 0, binding = 1) writeonly buffer Out { uint y[]; };

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i < count) y[i] = x[i] + count;
}
