#version 460
// SPDX-License-Identifier: Apache-2.0
// Returns the size of the subgroup and the number of its active invocations.
#extension GL_KHR_shader_subgroup_ballot : require
layout(local_size_x_id = 0) in;
layout(push_constant) uniform Push { uint count; };
layout(set = 0, binding = 0) writeonly buffer Sizes { uint sizes[]; };
layout(set = 0, binding = 1) writeonly buffer Active { uint active_invocations[]; };

void main() {
    const uint i = gl_GlobalInvocationID.x;
    const uint present = subgroupBallotBitCount(subgroupBallot(true));
    if (i >= count) return;
    sizes[i] = gl_SubgroupSize;
    active_invocations[i] = present;
}
