#version 460
// SPDX-License-Identifier: Apache-2.0
// Eight input buffers and eight output buffers.
layout(local_size_x = 64) in;
layout(push_constant) uniform Push { uint count; };
#define PAIR(k) \
    layout(set = 0, binding = k) readonly buffer In##k { uint x##k[]; }; \
    layout(set = 0, binding = 8 + k) writeonly buffer Out##k { uint y##k[]; };
PAIR(0) PAIR(1) PAIR(2) PAIR(3) PAIR(4) PAIR(5) PAIR(6) PAIR(7)

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i >= count) return;
    y0[i] = x0[i] + 100;
    y1[i] = x1[i] + 101;
    y2[i] = x2[i] + 102;
    y3[i] = x3[i] + 103;
    y4[i] = x4[i] + 104;
    y5[i] = x5[i] + 105;
    y6[i] = x6[i] + 106;
    y7[i] = x7[i] + 107;
}
