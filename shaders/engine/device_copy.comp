// SPDX-License-Identifier: Apache-2.0
// Copies within device memory, 16 bytes for each invocation. On an H200 no other workgroup size and number of bytes is
// faster.
#version 450

layout(local_size_x = 256) in;
layout(set = 0, binding = 0) readonly buffer From { uvec4 from[]; };
layout(set = 0, binding = 1) writeonly buffer To { uvec4 to[]; };
layout(push_constant) uniform Block { uint count; } block;

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i < block.count) to[i] = from[i];
}
