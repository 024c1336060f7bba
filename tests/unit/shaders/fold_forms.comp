#version 460
// SPDX-License-Identifier: Apache-2.0
// Ways to compute an index. FORM 0 to 4 use both axes of a dispatch; the others do not, or use y for another
// purpose.
layout(local_size_x = 64) in;
layout(push_constant) uniform Push { uint count; };
layout(set = 0, binding = 0) buffer Out { uint y[]; };

uint linear(uvec3 workgroup, uvec3 workgroups) {
    return workgroups.x * workgroup.y + workgroup.x;
}

void main() {
    const uint columns = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
#if FORM == 0
    const uint i = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * 64 + gl_LocalInvocationIndex;
#elif FORM == 1
    const uint i = gl_GlobalInvocationID.y * columns + gl_GlobalInvocationID.x;
#elif FORM == 2
    const uint i = linear(gl_WorkGroupID, gl_NumWorkGroups) * 64 + gl_LocalInvocationIndex;
#elif FORM == 3
    const uvec2 workgroup = gl_WorkGroupID.xy, workgroups = gl_NumWorkGroups.xy;
    const uint i = (workgroup.y * workgroups.x + workgroup.x) * 64 + gl_LocalInvocationIndex;
#elif FORM == 4
    const uvec3 workgroup = count > 7 ? gl_WorkGroupID : uvec3(0);
    const uint i = (int(workgroup.y) * int(gl_NumWorkGroups.x) + int(workgroup.x)) * 64 + gl_LocalInvocationIndex;
#elif FORM == 5
    const uint i = gl_GlobalInvocationID.x;
#elif FORM == 6
    const uint i = (gl_WorkGroupID.z * gl_NumWorkGroups.x + gl_WorkGroupID.x) * 64 + gl_LocalInvocationIndex;
#elif FORM == 7
    const uint i = gl_GlobalInvocationID.y * count + gl_GlobalInvocationID.x;
#elif FORM == 8
    const uint i = gl_WorkGroupID.y * gl_NumWorkGroups.y + gl_WorkGroupID.x;
#endif
#if FORM < 9
    if (i < count) y[i] = i;
#else
    for (uint i = gl_GlobalInvocationID.x; i < count; i += columns) y[i * 4 + gl_GlobalInvocationID.y] += i;
#endif
}
