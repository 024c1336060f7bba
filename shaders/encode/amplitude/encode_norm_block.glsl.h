// SPDX-License-Identifier: Apache-2.0
// amplitude, long rows, first step: a workgroup computes the norm of a block of a row. The blocks of a row
// follow each other in `norms`. A row that is too long for one binding takes several dispatches. Needs
// encode_interface.glsl.h, and the push constants and buffers of encode_norm_block.comp from the shader. No
// include guard: read once for each kernel.

uint row_begin;
WEFT_GPU Raw value_at(uint i) {
    return values[row_begin + i];
}
#include "encode_norm_team.glsl.h"

#include "encode_norm_record.glsl.h"

WEFT_MAIN() {
    for (uint block = gl_WorkGroupID.x; block < count; block += gl_NumWorkGroups.x) {
        const uint row = block / p.qubits, block_in_row = block - row * p.qubits;
        const uint begin = block_in_row << p.slab_bits, length = min(p.features - begin, 1u << p.slab_bits);
        row_begin = p.in_base + row * p.features + begin;
        Norm norm;
        norm.sum = kZero;
        norm.rest = kZero;
        norm.exponent = kPlain;
        norm.fault = kEncodeGood;
        norm.position = 0u;
        for (uint i = gl_LocalInvocationIndex; i < length; i += gl_WorkGroupSize.x)
            add_square(norm.sum, norm.rest, plain(value_at(i)));
        reduce_sum(norm.sum, norm.rest);
        if (!sums_exactly(norm.sum)) norm = norm_with_care(length);
        if (norm.fault != kEncodeGood && norm.fault != kEncodeZeroNorm)
            norm.position += (p.base + block_in_row) << p.slab_bits;
        if (gl_LocalInvocationIndex == 0) write_norm(p.row_base + block, norm);
    }
}
