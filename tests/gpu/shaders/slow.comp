#version 460
// SPDX-License-Identifier: Apache-2.0
// Work whose length the caller sets. Software devices end a loop after 65535 iterations; the inner loop does not count,
// because it is unrolled.
layout(local_size_x = 64) in;
layout(push_constant) uniform Push { uint count, first, rounds; };
layout(set = 0, binding = 0) readonly buffer In { uint x[]; };
layout(set = 0, binding = 1) writeonly buffer Out { uint y[]; };

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i >= count) return;
    uint v = x[i];
    for (uint k = 0; k < rounds; ++k)
        for (uint step = 0; step < 8; ++step) v = v * 1664525u + 1013904223u;
    y[i] = v;
}
