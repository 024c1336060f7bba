#version 460
// SPDX-License-Identifier: Apache-2.0
// Elements of any number of bytes.
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
layout(local_size_x = 64) in;
layout(push_constant) uniform Push { uint count, first, width; };
layout(set = 0, binding = 0) readonly buffer In { uint8_t x[]; };
layout(set = 0, binding = 1) writeonly buffer Out { uint8_t y[]; };

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i >= count) return;
    for (uint k = 0; k < width; ++k) y[i * width + k] = uint8_t(uint(x[i * width + k]) ^ 0x5au);
}
