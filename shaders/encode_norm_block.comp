// SPDX-License-Identifier: Apache-2.0
// amplitude, long rows, first step: the norm of each block of a row by a workgroup. A row's blocks lie behind each
// other in `norms`. A row that is too long to be bound whole comes in several dispatches.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shared/encode_form.h"

layout(local_size_x_id = 0) in;
layout(push_constant) uniform Push {
    uint count;
    uint first;
    // features: of a row in the bound range; slab_bits: of a block; qubits: blocks of a row; base: blocks of this row
    // before those of this dispatch; row_base: the first record to write
    EncodeParameters p;
};
layout(set = 0, binding = 0) readonly buffer Values { Raw values[]; };
layout(set = 0, binding = 1) writeonly buffer Norms { uvec4 norms[]; };

uint row_begin;
Raw value_at(uint i) { return values[row_begin + i]; }
#include "shared/encode_norm.h"
#include "shared/encode_norm_record.h"

void main() {
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
