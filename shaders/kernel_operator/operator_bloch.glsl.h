// SPDX-License-Identifier: Apache-2.0
// The numbers of samples from their features. Needs the push constants and buffers of operator_bloch.comp
// from the shader. No include guard: read once for each kernel.

WEFT_GPU uvec2 feature_at(uint at) {
    return p.wide != 0u ? uvec2(features[2u * at], features[2u * at + 1u]) : widen_float(features[at]);
}

// An element is a part of a sample.
WEFT_MAIN() {
    const uint step = gl_NumWorkGroups.x * gl_WorkGroupSize.x, of_qubit = p.rz != 0u ? 3u : 2u;
    for (uint i = gl_GlobalInvocationID.x; i < count; i += step) {
        const uint sample_of = i / p.parts, part = i - sample_of * p.parts;
        uint at = p.out_base + i * p.part_numbers;
        const uint end = at + p.part_numbers;
        for (uint k = 0; k < p.part_qubits; ++k, at += of_qubit) {
            const uint qubit = part * p.part_qubits + k;
            SinCos a;
            a.sine = kZero;  // 1/2 + 1/2 cos 0 cos 0 is 1
            a.cosine = kOne;
            if (qubit < p.qubits)
                a = sincos_of_angle(multiply_doubles(feature_at(p.in_base + sample_of * p.qubits + qubit),
                                                     uvec2(p.scale_low, p.scale_high)));
            if (p.rz != 0u) {
                numbers[at] = a.sine * a.cosine;
                numbers[at + 1u] = a.sine * a.sine;
                numbers[at + 2u] = a.cosine;
            } else {
                numbers[at] = a.sine;
                numbers[at + 1u] = a.cosine;
            }
        }
        for (; at < end; ++at) numbers[at] = kZero;
    }
}
