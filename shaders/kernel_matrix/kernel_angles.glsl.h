// SPDX-License-Identifier: Apache-2.0
// Computes cosine and sine of scale times feature, or of half of it, in planes [qubit][cosine, sine][stride].
// Needs the push constants and buffers of kernel_angles.comp from the shader.
// No include guard: read once for each kernel.

// One program serves both types of features, because angles are doubles in either case.
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
