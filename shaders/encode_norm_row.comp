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

const int kBias = 1 << 20;  // makes exponents, kPlain included, sort as unsigned numbers

// Times 4^shift, shift <= 0.
Real shrink(Real value, int shift) {
    const Real quarter = kHalf * kHalf;
    if (shift < -600) return kZero;
    for (; shift < 0; ++shift) value *= quarter;
    return value;
}

void main() {
    for (uint row = gl_WorkGroupID.x; row < count; row += gl_NumWorkGroups.x) {
        Norm all, norm;
        all.sum = kZero;
        all.rest = kZero;
        uint most = 0u, worst = 0xffffffffu;
        bool scaled_blocks = false;
        for (uint i = gl_LocalInvocationIndex; i < p.features; i += gl_WorkGroupSize.x) {
            read_norm((p.row_base + row) * p.features + i, norm);
            if (norm.fault == kEncodeZeroNorm) continue;
            if (norm.fault != kEncodeGood) worst = min(worst, i);
            most = max(most, uint((norm.exponent == kPlain ? 0 : norm.exponent) + kBias));
            scaled_blocks = scaled_blocks || norm.exponent != kPlain;
        }
        most = reduce_max(most);
        worst = ~reduce_max(~worst);
        scaled_blocks = reduce_max(scaled_blocks ? 1u : 0u) != 0u;
        const int exponent = int(most) - kBias;
        for (uint i = gl_LocalInvocationIndex; i < p.features; i += gl_WorkGroupSize.x) {
            read_norm((p.row_base + row) * p.features + i, norm);
            if (norm.fault != kEncodeGood) continue;
            const int shift = (norm.exponent == kPlain ? 0 : norm.exponent) - exponent;
            add_to(all.sum, all.rest, shrink(norm.sum, shift));
            all.rest += shrink(norm.rest, shift);
        }
        reduce_sum(all.sum, all.rest);
        all.fault = kEncodeGood;
        all.position = 0u;
        all.exponent = scaled_blocks && exponent != 0 ? exponent : kPlain;
        if (worst != 0xffffffffu) {
            read_norm((p.row_base + row) * p.features + worst, all);
        } else if (most == 0u) {
            all.fault = kEncodeZeroNorm;
        }
        all.sum = all.fault == kEncodeGood ? inverse_root(all.sum, all.rest) : kZero;
        if (gl_LocalInvocationIndex == 0) {
            status[p.row_base + row] = uvec2(all.fault, all.position);
            rows[2 * (p.row_base + row)] = uvec4(real_words(all.sum), 0u, 0u);
            rows[2 * (p.row_base + row) + 1] = uvec4(uint(all.exponent), all.fault, all.position, 0u);
        }
    }
}
