#version 460
// SPDX-License-Identifier: Apache-2.0
// A table that is bound whole for every chunk.
layout(local_size_x = 64) in;
layout(push_constant) uniform Push { uint count; };
layout(set = 0, binding = 0) readonly buffer In { uint x[]; };
layout(set = 0, binding = 1) readonly buffer Table { uint table[]; };
layout(set = 0, binding = 2) writeonly buffer Out { uint y[]; };

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i < count) y[i] = table[x[i] % table.length()];
}
