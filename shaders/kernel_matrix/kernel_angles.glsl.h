// SPDX-License-Identifier: Apache-2.0
// Cosine and sine of scale times feature, or of half of it: planes [qubit][cosine, sine][stride].
// Needs the push constants and buffers of kernel_angles.comp from the shader.
// No include guard: read once for each kernel.

// Either type of features in one program: angles are doubles whatever they come from.
WEFT_GPU uvec2 feature_at(uint at) {
    return p.wide != 0u ? uvec2(features[2u * at], features[2u * at + 1u]) : widen_float(features[at]);
}

WEFT_MAIN() {
    const uint step = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < count; i += step) {
        const uint sample_of = i / p.qubits, qubit = i - sample_of * p.qubits;
        uvec2 angle = multiply_doubles(feature_at(p.in_base + i), uvec2(p.scale_low, p.scale_high));
        if (p.halved != 0u) angle = half_double(angle);
        const SinCos a = sincos_of_angle(angle);
        const uint at = qubit * 2u * p.stride + p.out_base + sample_of;
        planes[at] = a.cosine;
        planes[at + p.stride] = a.sine;
    }
}
