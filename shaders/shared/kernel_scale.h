// SPDX-License-Identifier: Apache-2.0
// Normalises a block of K: every value times the factors of its row and of its column; 1 on the diagonal.
// Needs the push constants and buffers of kernel_scale.comp from the shader.
// No include guard: read once for each kernel.

WEFT_GPU Real factor_at(uint i) {
#if defined(WEFT_WORK64)
    if (kWideFactors) return packDouble2x32(uvec2(factors[2u * i], factors[2u * i + 1u]));
#endif
    return Real(uintBitsToFloat(factors[i]));
}

WEFT_MAIN() {
    const uint step = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < count; i += step) {
        const uint row = i / p.columns, column = i - row * p.columns,
                   at = p.before + row * p.leading + column;
        const Real factor = factor_at(p.row_base + row) * factor_at(p.column_base + column);
        const bool own = p.square != 0u && p.row_base + row == p.column_base + column;
#if defined(WEFT_WORK64)
        if (kWideValues) {
            const Real value = packDouble2x32(uvec2(values[2u * at], values[2u * at + 1u]));
            const uvec2 bits = unpackDouble2x32(own ? kOne : value * factor);
            values[2u * at] = bits.x;
            values[2u * at + 1u] = bits.y;
            continue;
        }
#endif
        values[at] = floatBitsToUint(own ? 1.0f : uintBitsToFloat(values[at]) * float(factor));
    }
}
