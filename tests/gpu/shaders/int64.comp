#version 460
// SPDX-License-Identifier: Apache-2.0
// Needs 64-bit integers.
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer In { uint64_t x[]; };
layout(set = 0, binding = 1) writeonly buffer Out { uint64_t y[]; };

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i < x.length()) y[i] = x[i] * x[i] + 1ul;
}
