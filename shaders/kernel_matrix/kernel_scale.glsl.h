// SPDX-License-Identifier: Apache-2.0
// Normalises a block of K: every value is multiplied by the factors of its row and of its column. On the
// diagonal the result is 1, or NaN if the value was NaN. Needs the push constants and buffers of
// kernel_scale.comp from the shader. No include guard: read once for each kernel.

WEFT_GPU Real factor_at(uint i) {
#if defined(WEFT_REAL64)
    return packDouble2x32(uvec2(factors[2u * i], factors[2u * i + 1u]));
#else
    return uintBitsToFloat(factors[i]);
#endif
}

// It compares bits, because drivers may assume that no value is NaN.
WEFT_GPU bool is_nan32(uint bits) {
    return (bits & 0x7fffffffu) > 0x7f800000u;
}
WEFT_GPU bool is_nan64(uint high, uint low) {
    return (high & 0x7fffffffu) + (low != 0u ? 1u : 0u) > 0x7ff00000u;
}

WEFT_MAIN() {
    const uint step = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < count; i += step) {
        const uint row = i / p.columns, column = i - row * p.columns,
                   at = p.before + row * p.leading + column;
        const Real factor = factor_at(p.row_base + row) * factor_at(p.column_base + column);
        const bool own = p.square != 0u && p.row_base + row == p.column_base + column;
#if defined(WEFT_REAL64)
        if (kWideValues) {
            const uint low = values[2u * at], high = values[2u * at + 1u];
            const Real value = packDouble2x32(uvec2(low, high));
            const uvec2 bits = unpackDouble2x32(own && !is_nan64(high, low) ? kOne : value * factor);
            values[2u * at] = bits.x;
            values[2u * at + 1u] = bits.y;
            continue;
        }
#endif
        const uint bits = values[at];
        values[at] =
            floatBitsToUint(own && !is_nan32(bits) ? 1.0f : float(Real(uintBitsToFloat(bits)) * factor));
    }
}
