// SPDX-License-Identifier: Apache-2.0
// A butterfly between two ranges of a state that is too large for one binding. It transforms the bit of the index in
// which the two ranges differ.
#version 450

#if defined(WEFT_REAL64)
#define Unit dvec2
#else
#define Unit vec4
#endif

layout(local_size_x_id = 0) in;
layout(push_constant) uniform Push { uint count; };
layout(set = 0, binding = 0) buffer Lower { Unit lower[]; };
layout(set = 0, binding = 1) buffer Upper { Unit upper[]; };

void main() {
    const uint step = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < count; i += step) {
        const Unit a = lower[i], b = upper[i];
        lower[i] = a + b;
        upper[i] = a - b;
    }
}
