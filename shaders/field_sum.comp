// SPDX-License-Identifier: Apache-2.0
// out[g] = the sum of a[g * block] to a[(g + 1) * block - 1] mod p, one workgroup a block; the last block may be shorter.
// `count` is the number of blocks. Exact, so the order of the additions does not show.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shared/field_form.h"

layout(local_size_x = 128) in;
layout(push_constant) uniform Push { uint count, first_in_job, block; };
layout(set = 0, binding = 0) readonly buffer A { ElementPart a[]; };
layout(set = 0, binding = 1) writeonly buffer Out { ElementPart result[]; };

shared Element partial[gl_WorkGroupSize.x];

void main() {
    const uint elements = uint(a.length()) / kParts;
    for (uint g = gl_WorkGroupID.x; g < count; g += gl_NumWorkGroups.x) {
        const uint begin = g * block, end = begin + min(block, elements - begin);
        Element total = zero_element();
        for (uint at = begin + gl_LocalInvocationID.x; at < end; at += gl_WorkGroupSize.x * kEach) {
            Element x[kEach];
            WEFT_UNROLL for (uint k = 0, i = at; k < kEach; ++k, i += gl_WorkGroupSize.x) {
                x[k] = zero_element();
                if (i < end) x[k] = LOAD(a, i);
            }
            WEFT_UNROLL for (uint k = 0; k < kEach; ++k) total = add_elements(total, x[k]);
        }
        partial[gl_LocalInvocationID.x] = total;
        for (uint half_size = gl_WorkGroupSize.x / 2; half_size > 0; half_size /= 2) {
            barrier();
            if (gl_LocalInvocationID.x < half_size)
                partial[gl_LocalInvocationID.x] =
                    add_elements(partial[gl_LocalInvocationID.x], partial[gl_LocalInvocationID.x + half_size]);
        }
        if (gl_LocalInvocationID.x == 0) {
            const Element z = partial[0];
            STORE(result, g, z);
        }
    }
}
