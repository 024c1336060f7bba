#version 460
// SPDX-License-Identifier: Apache-2.0
// There is no block; length() gives the bounds.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer In { uint x[]; };
layout(set = 0, binding = 3) writeonly buffer Out { uint y[]; };

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i < y.length()) y[i] = x[i] ^ uint(x.length());
}
