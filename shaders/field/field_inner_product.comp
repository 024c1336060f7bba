// SPDX-License-Identifier: Apache-2.0
// out[g] = the sum of a[i] * b[i] mod p over the elements i of share g, with one workgroup for each share; see
// field_shares.h. `count` is the number of shares. Products are summed without reduction as long as the columns can
// hold them, and factor() cancels the divisor of the reductions. Arithmetic is exact, so the order of the additions
// does not matter.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "field_interface.h"

layout(local_size_x = 128, local_size_x_id = 0) in;
layout(push_constant) uniform Push { uint count, first_in_job, block; };
layout(set = 0, binding = 0) readonly buffer A { ElementPart a[]; };
layout(set = 0, binding = 1) readonly buffer B { ElementPart b[]; };
layout(set = 0, binding = 2) writeonly buffer Out { ElementPart result[]; };

#include "field_shares.h"

#define READ_PAIRS(left, right, at)                                                          \
    WEFT_UNROLL for (uint k = 0, i = at; k < kShareEach; ++k, i += gl_WorkGroupSize.x) {     \
        left[k] = right[k] = zero_element();                                                 \
        if (i < share.end) left[k] = LOAD(a, i), right[k] = LOAD(b, i);                      \
    }

void main() {
    for (uint g = gl_WorkGroupID.x; g < count; g += gl_NumWorkGroups.x) {
        const Share share = share_of(g, uint(a.length()) / kParts);
        Element total = zero_element();
        uint at = share.begin;
        while (at < share.end) {
            Columns sum;
            clear_columns(sum);
            uint products = 0, unsettled = 0;
#if kShareAhead
            Element next_x[kShareEach], next_y[kShareEach];
            READ_PAIRS(next_x, next_y, at)
#endif
            // Not unrolled: the code of several products would not fit the instruction cache.
            WEFT_ROLL for (; at < share.end && products < kProductsTotal; at += share.step) {
                Element x[kShareEach], y[kShareEach];
#if kShareAhead
                x = next_x;
                y = next_y;
                READ_PAIRS(next_x, next_y, at + share.step)
#else
                READ_PAIRS(x, y, at)
#endif
                WEFT_UNROLL for (uint k = 0; k < kShareEach; ++k) add_product(sum, x[k], y[k], modulus(), n0());
                products += kShareEach;
                unsettled += kShareEach;
                if (unsettled == kProducts) {
                    settle_columns(sum);
                    unsettled = 0;
                }
            }
            settle_columns(sum);
            total = add_elements(total, column_total(sum, modulus(), n0()));
        }
        const Element whole = sum_of_workgroup(total);
        if (gl_LocalInvocationID.x == 0) {
            const Element z = mul_elements(whole, factor());
            STORE(result, g, z);
        }
    }
}
