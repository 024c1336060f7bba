// SPDX-License-Identifier: Apache-2.0
// Packs row-major states into the planes of shaders/gram/gram_layout.h: float, double (WEFT_REAL64) or
// float16 (WEFT_MATRIX). A workgroup transposes 64 rows by 16 amplitudes in shared memory. Needs the push
// constants and buffers of gram_pack.comp from the shader. No include guard: read once for each kernel.

WEFT_CONST uint kWidth = kGramPackAmplitudes;
// Rows are longer by one number, so that a column is spread over the banks.
WEFT_GROUP(Complex, held, kGramBlockRows*(kWidth + 1u));

WEFT_GPU Complex state_at(uint i) {
#if defined(WEFT_REAL64)
    if (kWidened) return Complex(narrow_states[i].x, narrow_states[i].y);
#endif
    return states[i];
}

WEFT_GPU void read(uint row0, uint k0) {
    for (uint i = gl_LocalInvocationIndex; i < kGramBlockRows * kWidth; i += gl_WorkGroupSize.x) {
        const uint r = i / kWidth, k = i % kWidth;
        Complex value = Complex(0.0);
        if (row0 + r < p.rows && k0 + k < p.amplitudes)
            value = state_at(p.before + (row0 + r) * p.amplitudes + k0 + k);
        held[r * (kWidth + 1u) + k] = value;
    }
}

#if defined(WEFT_MATRIX)
WEFT_GPU float part(Complex value, uint plane) {
    const float scaled = kGramScale * (plane < 2u ? value.x : value.y);
    const float high = gram_high(scaled);
    return (plane & 1u) != 0u ? scaled - high : high;
}

WEFT_GPU void write(uint row0, uint k0) {
    for (uint i = gl_LocalInvocationIndex; i < kGramBlockRows * kGramMatrixPlanes * 8u;
         i += gl_WorkGroupSize.x) {
        const uint k = 2u * (i % 8u), plane = i / 8u % kGramMatrixPlanes, r = i / 8u / kGramMatrixPlanes;
        const uint at = r * (kWidth + 1u) + k;
        planes[gram_matrix_at(row0 + r, k0 + k, plane, p.blocks) / 2u] =
            packHalf2x16(vec2(part(held[at], plane), part(held[at + 1u], plane)));
    }
}
#else
WEFT_GPU void write(uint row0, uint k0) {
    for (uint i = gl_LocalInvocationIndex; i < kGramBlockRows * kWidth * kGramPlanes;
         i += gl_WorkGroupSize.x) {
        const uint r = i % kGramBlockRows, plane = i / kGramBlockRows % kGramPlanes;
        const uint k = i / kGramBlockRows / kGramPlanes;
        const Complex value = held[r * (kWidth + 1u) + k];
        if (k0 + k < p.blocks * kGramStep)
            planes[gram_at(row0 + r, k0 + k, plane, p.blocks)] = plane == 0u ? value.x : value.y;
    }
}
#endif

WEFT_MAIN() {
    const uint index = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (index >= count) return;
    const uint row0 = index / p.across * kGramBlockRows, k0 = index % p.across * kWidth;
    read(row0, k0);
    barrier();
    write(row0, k0);
}
