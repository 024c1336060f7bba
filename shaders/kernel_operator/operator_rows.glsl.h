// SPDX-License-Identifier: Apache-2.0
// Rows of K that a list names, or its diagonal. Needs the push constants and buffers of operator_rows.comp
// from the shader. No include guard: read once for each kernel.

// It compares bits, because drivers may assume that no value is NaN.
WEFT_GPU bool is_nan(Real value) {
#if defined(WEFT_REAL64)
    const uvec2 bits = unpackDouble2x32(value);
    return (bits.y & 0x7fffffffu) + (bits.x != 0u ? 1u : 0u) > 0x7ff00000u;
#else
    return (floatBitsToUint(value) & 0x7fffffffu) > 0x7f800000u;
#endif
}

WEFT_GPU Real kernel_value(uint row, uint column) {
    const uint of_qubit = p.rz != 0u ? 3u : 2u;
    Real value = kOne;
    for (uint part = 0; part < p.parts; ++part) {
        uint a = (row * p.parts + part) * p.part_numbers, b = (column * p.parts + part) * p.part_numbers;
        for (uint q = 0; q < p.qubits; ++q, a += of_qubit, b += of_qubit) {
            Real factor = fma(kHalf * row_samples[a], column_samples[b], kHalf);
            factor = fma(kHalf * row_samples[a + 1u], column_samples[b + 1u], factor);
            if (p.rz != 0u) factor = fma(kHalf * row_samples[a + 2u], column_samples[b + 2u], factor);
            value *= factor;
        }
    }
    return value;
}

WEFT_MAIN() {
    const uint step = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < count; i += step) {
        const uint of_list = kDiagonal ? 0u : i / p.columns, column = i - of_list * p.columns;
        const uint row = kDiagonal ? i : list[p.list_base + of_list];
        Real value = kernel_value(row, column);
        const bool own = kDiagonal || (p.square != 0u && row == p.column_base + column);
        if (own)
            value = is_nan(value) ? value : real_of(p.own_low, p.own_high);
        else
            value *= real_of(p.shrink_low, p.shrink_high);
        result[p.out_base + of_list * p.out_width + column] = value;
    }
}
