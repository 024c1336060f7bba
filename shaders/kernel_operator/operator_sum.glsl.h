// SPDX-License-Identifier: Apache-2.0
// Adds up partial sums, as operator_sum.comp defines it. Needs its push constants and buffers from the
// shader. No include guard: read once for each kernel.

WEFT_MAIN() {
    const uint step = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < count; i += step) {
        const uint row = i / p.columns, column = i - row * p.columns;
        const uint of_term = row * p.term_width + column;
        uint term = 0u;
        if (p.skip_rows != 0u && row >= p.skip_from) term = (row - p.skip_from) / p.skip_rows + 1u;
        WEFT_PRECISE Real sum = kZero;
        WEFT_PRECISE Real lost = kZero;  // the rounding error of the sum so far
        for (; term < p.terms; ++term) {
            WEFT_PRECISE const Real added = terms[term * p.apart + of_term] - lost;
            WEFT_PRECISE const Real next = sum + added;
            WEFT_PRECISE const Real taken = next - sum;
            lost = taken - added;
            sum = next;
        }
        Real value = real_of(p.alpha_low, p.alpha_high) * sum;
        const uint at = row * p.width + column;
        if (p.with_v != 0u) value = fma(real_of(p.delta_low, p.delta_high), v[p.in_base + at], value);
        if (p.with_out != 0u) value = fma(real_of(p.beta_low, p.beta_high), result[p.out_base + at], value);
        result[p.out_base + at] = value;
    }
}
