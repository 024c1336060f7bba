#version 460
// SPDX-License-Identifier: Apache-2.0
// Needs a feature that weft enables on no device.
#extension GL_EXT_shader_atomic_int64 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Out { uint64_t y; };

void main() {
    atomicAdd(y, 1ul);
}
