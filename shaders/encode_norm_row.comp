// SPDX-License-Identifier: Apache-2.0
// amplitude, long rows, second step: the norms of a row's blocks become one, by a workgroup a row. The record that
// comes out holds the inverse of the norm where those of blocks hold sums.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shared/encode_form.h"

layout(local_size_x_id = 0) in;
layout(push_constant) uniform Push {
    uint count;
    uint first;
    EncodeParameters p;  // features: blocks of a row; row_base: the first row
};
layout(set = 0, binding = 0) readonly buffer Norms { uvec4 norms[]; };
layout(set = 0, binding = 1) writeonly buffer Rows { uvec4 rows[]; };
layout(set = 0, binding = 2) writeonly buffer Status { uvec2 status[]; };

Raw value_at(uint i) { return Raw(0u); }
#include "shared/encode_norm.h"
#include "shared/encode_norm_record.h"
uint row;
Norm norm_at(uint block) {
    Norm norm;
    read_norm((p.row_base + row) * p.features + block, norm);
    return norm;
}
#include "shared/encode_norm_combine.h"

void main() {
    for (row = gl_WorkGroupID.x; row < count; row += gl_NumWorkGroups.x) {
        const Norm all = combine_norms(p.features);
        if (gl_LocalInvocationIndex == 0) {
            status[p.row_base + row] = uvec2(all.fault, all.position);
            rows[2 * (p.row_base + row)] = uvec4(real_words(all.sum), 0u, 0u);
            rows[2 * (p.row_base + row) + 1] = uvec4(uint(all.exponent), all.fault, all.position, 0u);
        }
    }
}
