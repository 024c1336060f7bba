// SPDX-License-Identifier: Apache-2.0
// amplitude, long rows, second step: a workgroup joins the norms of a row's blocks. The record that it writes
// holds the inverse of the norm in the place where records of blocks hold sums. Needs
// encode_interface.glsl.h, and the push constants and buffers of encode_norm_row.comp from the shader. No
// include guard: read once for each kernel.

WEFT_GPU Raw value_at(uint i) {
    return Raw(0u);
}
#include "encode_norm_team.glsl.h"

#include "encode_norm_record.glsl.h"
uint row;
WEFT_GPU Norm norm_at(uint block) {
    Norm norm;
    read_norm((p.row_base + row) * p.features + block, norm);
    return norm;
}
#include "encode_norm_combine.glsl.h"

WEFT_MAIN() {
    for (row = gl_WorkGroupID.x; row < count; row += gl_NumWorkGroups.x) {
        const Norm all = combine_norms(p.features);
        if (gl_LocalInvocationIndex == 0) {
            status[p.row_base + row] = uvec2(all.fault, all.position);
            rows[2 * (p.row_base + row)] = uvec4(real_words(all.sum), 0u, 0u);
            rows[2 * (p.row_base + row) + 1] = uvec4(uint(all.exponent), all.fault, all.position, 0u);
        }
    }
}
