// SPDX-License-Identifier: Apache-2.0
// What becomes of a batch of states: one sum of magnitudes a workgroup.
#version 450

layout(local_size_x = 256) in;
layout(push_constant) uniform Push { uint count; };
layout(set = 0, binding = 0) readonly buffer States { vec4 states[]; };
layout(set = 0, binding = 1) writeonly buffer Sums { float sums[]; };

shared float part[256];

void main() {
    const uint lane = gl_LocalInvocationIndex, step = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    float sum = 0;
    for (uint i = gl_GlobalInvocationID.x; i < count; i += step) {
        const vec4 two = states[i];
        sum += length(two.xy) + length(two.zw);
    }
    part[lane] = sum;
    for (uint half_size = 128; half_size > 0; half_size /= 2) {
        barrier();
        if (lane < half_size) part[lane] += part[lane + half_size];
    }
    if (lane == 0) sums[gl_WorkGroupID.x] = part[0];
}
