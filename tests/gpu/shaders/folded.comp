#version 460
// SPDX-License-Identifier: Apache-2.0
// Computes its index from both axes of a dispatch. The ids of the workgroup size are deliberately out of order.
layout(local_size_x_id = 5, local_size_y_id = 2, local_size_z = 2) in;
layout(push_constant) uniform Push { uint count, first; };
layout(set = 0, binding = 0) readonly buffer In { uint x[]; };
layout(set = 0, binding = 1) buffer Out { uint y[]; };

void main() {
    const uint invocations = gl_WorkGroupSize.x * gl_WorkGroupSize.y * gl_WorkGroupSize.z;
    const uint workgroup = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    const uint i = workgroup * invocations + gl_LocalInvocationIndex;
    // Adds, so that an element that is processed twice is found.
    if (i < count) y[i] += 3 * x[i] + 1;
}
