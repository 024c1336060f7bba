// SPDX-License-Identifier: Apache-2.0
// Adds partial sums to totals, as operator_total.comp defines it. Needs its push constants and buffers, and
// the functions of operator_total.h, from the shader. No include guard: read once for each kernel.

WEFT_GPU uvec2 fixed_of(Real term, int unit) {
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

WEFT_MAIN() {
    const uint step = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < count; i += step) {
        const uint row = i / p.columns, column = i - row * p.columns;
        const uint of_term = row * p.term_width + column, at = 2u * (p.out_base + row * p.width + column);
        const int unit = units[p.first_column + column];
        uint term = 0u;
        if (p.skip_rows != 0u && row >= p.skip_from) term = (row - p.skip_from) / p.skip_rows + 1u;
        uvec2 total = uvec2(totals[at], totals[at + 1u]);
        for (; term < p.terms; ++term)
            total = add_words(total, fixed_of(terms[term * p.apart + of_term], unit));
        totals[at] = total.x;
        totals[at + 1u] = total.y;
    }
}
