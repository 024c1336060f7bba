// SPDX-License-Identifier: Apache-2.0
// Adds partial sums to totals in fixed point, which several devices make of one product. An element is a value of the
// output: its total is a word of 64 bits.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "operator_interface.glsl.h"

#include "operator_total.h"

layout(local_size_x_id = 0) in;
layout(push_constant) uniform Push {
    uint count;
    uint first;
    OperatorTotalParameters p;
};
layout(set = 0, binding = 0) readonly buffer Terms { Real terms[]; };
layout(set = 0, binding = 1) readonly buffer Units { int units[]; };  // [column of V]
// [row][column of V], low half first; then a word that is not 0 if a term was none
layout(set = 0, binding = 2) buffer Totals { uint totals[]; };

uvec2 fixed_of(Real term, int unit) {
#if defined(WEFT_REAL64)
    const uvec2 bits = unpackDouble2x32(term);
    if (double_can_be_term(bits, unit)) return fixed_of_double(bits, unit);
#else
    const uint bits = floatBitsToUint(term);
    if (float_can_be_term(bits, unit)) return fixed_of_float(bits, unit);
#endif
    totals[p.spoilt_at] = 1u;
    return uvec2(0u, 0u);
}

void main() {
    const uint step = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < count; i += step) {
        const uint row = i / p.columns, column = i - row * p.columns;
        const uint of_term = row * p.term_width + column, at = 2u * (p.out_base + row * p.width + column);
        const int unit = units[p.first_column + column];
        uint term = 0u;
        if (p.skip_rows != 0u && row >= p.skip_from) term = (row - p.skip_from) / p.skip_rows + 1u;
        uvec2 total = uvec2(totals[at], totals[at + 1u]);
        for (; term < p.terms; ++term) total = add_words(total, fixed_of(terms[term * p.apart + of_term], unit));
        totals[at] = total.x;
        totals[at + 1u] = total.y;
    }
}
