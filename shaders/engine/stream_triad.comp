// SPDX-License-Identifier: Apache-2.0
// Reads two arrays and writes a third with 16-byte accesses. Its speed is the ceiling for kernels that memory limits.
#version 450

layout(local_size_x = 256) in;
layout(set = 0, binding = 0) readonly buffer A { uvec4 a[]; };
layout(set = 0, binding = 1) readonly buffer B { uvec4 b[]; };
layout(set = 0, binding = 2) writeonly buffer C { uvec4 c[]; };
layout(push_constant) uniform Block { uint count; } block;

void main() {
    const uint step = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < block.count; i += step) c[i] = a[i] ^ (b[i] + uvec4(1u));
}
