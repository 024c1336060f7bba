// SPDX-License-Identifier: Apache-2.0
// out[g] = the sum of a[i] * b[i] mod p over the elements i of block g, one workgroup a block; the last block may be
// shorter. `count` is the number of blocks. Products are summed unreduced for as long as their columns hold, and
// factor() takes out what the reductions divide by. Exact, so the order of the additions does not show.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shared/field_form.h"

layout(local_size_x = 128) in;
layout(push_constant) uniform Push { uint count, first_in_job, block; };
layout(set = 0, binding = 0) readonly buffer A { ElementPart a[]; };
layout(set = 0, binding = 1) readonly buffer B { ElementPart b[]; };
layout(set = 0, binding = 2) writeonly buffer Out { ElementPart result[]; };

shared Element partial[gl_WorkGroupSize.x];

void main() {
    const uint elements = uint(a.length()) / kParts;
    for (uint g = gl_WorkGroupID.x; g < count; g += gl_NumWorkGroups.x) {
        const uint begin = g * block, end = begin + min(block, elements - begin);
        Element total = zero_element();
        uint at = begin + gl_LocalInvocationID.x;
        while (at < end) {
            Columns sum;
            clear_columns(sum);
            for (uint products = 0; products < kProductsTotal && at < end; products += kProducts) {
                for (uint more = 0; more < kProducts && at < end; more += kEach, at += gl_WorkGroupSize.x * kEach) {
                    Element x[kEach], y[kEach];
                    WEFT_UNROLL for (uint k = 0, i = at; k < kEach; ++k, i += gl_WorkGroupSize.x) {
                        x[k] = y[k] = zero_element();
                        if (i < end) x[k] = LOAD(a, i), y[k] = LOAD(b, i);
                    }
                    WEFT_UNROLL for (uint k = 0; k < kEach; ++k) add_product(sum, x[k], y[k], modulus(), n0());
                }
                settle_columns(sum);
            }
            total = add_elements(total, column_total(sum, modulus(), n0()));
        }
        partial[gl_LocalInvocationID.x] = total;
        for (uint half_size = gl_WorkGroupSize.x / 2; half_size > 0; half_size /= 2) {
            barrier();
            if (gl_LocalInvocationID.x < half_size)
                partial[gl_LocalInvocationID.x] =
                    add_elements(partial[gl_LocalInvocationID.x], partial[gl_LocalInvocationID.x + half_size]);
        }
        if (gl_LocalInvocationID.x == 0) {
            const Element z = mul_elements(partial[0], factor());
            STORE(result, g, z);
        }
    }
}
