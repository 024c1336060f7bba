// SPDX-License-Identifier: Apache-2.0
// Copies 16 bytes an invocation and turn. How many workgroups there are sets the pace: each invocation waits for what
// it reads before it goes on.
#version 450

layout(local_size_x = 256) in;
layout(set = 0, binding = 0) readonly buffer From { uvec4 from[]; };
layout(set = 0, binding = 1) writeonly buffer To { uvec4 to[]; };
layout(push_constant) uniform Block { uint count; } block;

void main() {
    const uint step = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < block.count; i += step) to[i] = from[i];
}
