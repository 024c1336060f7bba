#version 460
// SPDX-License-Identifier: Apache-2.0
// Work whose length the caller chooses.
layout(local_size_x = 64) in;
layout(push_constant) uniform Push { uint count, first, rounds; };
layout(set = 0, binding = 0) readonly buffer In { uint x[]; };
layout(set = 0, binding = 1) writeonly buffer Out { uint y[]; };

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i >= count) return;
    uint v = x[i];
    // Two loops: software devices end one after 65535 rounds.
    for (uint done = 0; done < rounds; done += 50000)
        for (uint k = done; k < min(rounds, done + 50000); ++k) v = v * 1664525u + 1013904223u;
    y[i] = v;
}
