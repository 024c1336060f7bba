#version 460
// SPDX-License-Identifier: Apache-2.0
// Loops over its elements; workgroup size and factor are specialization constants.
layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint kFactor = 3;
layout(push_constant) uniform Push { uint count; };
layout(set = 0, binding = 0) readonly buffer In { uint x[]; };
layout(set = 0, binding = 1) writeonly buffer Out { uint y[]; };

void main() {
    for (uint i = gl_GlobalInvocationID.x; i < count; i += gl_NumWorkGroups.x * gl_WorkGroupSize.x)
        y[i] = x[i] * kFactor;
}
