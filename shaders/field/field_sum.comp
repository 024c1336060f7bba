// SPDX-License-Identifier: Apache-2.0
// out[g] = the sum of a[i] mod p over the elements i of share g, with one workgroup for each share; see field_shares.h.
// `count` is the number of shares. Arithmetic is exact, so the order of the additions does not matter.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "field_interface.h"

layout(local_size_x = 128, local_size_x_id = 0) in;
layout(push_constant) uniform Push { uint count, first_in_job, block; };
layout(set = 0, binding = 0) readonly buffer A { ElementPart a[]; };
layout(set = 0, binding = 1) writeonly buffer Out { ElementPart result[]; };

#include "field_shares.h"

void main() {
    for (uint g = gl_WorkGroupID.x; g < count; g += gl_NumWorkGroups.x) {
        const Share share = share_of(g, uint(a.length()) / kParts);
        Element total = zero_element();
        WEFT_ROLL for (uint at = share.begin; at < share.end; at += share.step) {
            Element x[kShareEach];
            WEFT_UNROLL for (uint k = 0, i = at; k < kShareEach; ++k, i += gl_WorkGroupSize.x) {
                x[k] = zero_element();
                if (i < share.end) x[k] = LOAD(a, i);
            }
            WEFT_UNROLL for (uint k = 0; k < kShareEach; ++k) total = add_elements(total, x[k]);
        }
        const Element whole = sum_of_workgroup(total);
        if (gl_LocalInvocationID.x == 0) STORE(result, g, whole);
    }
}
