// SPDX-License-Identifier: Apache-2.0
// The Bloch vector of every feature's qubit, halved: (cos t, sin t) / 2 after RY(t), in the plane it stays in;
// (sin t cos t, sin^2 t, cos t) / 2 after RZ(t) RY(t).
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shared/kernel_form.h"

layout(local_size_x_id = 0) in;
layout(constant_id = 2) const uint kParts = 2;
layout(push_constant) uniform Push {
    uint count;
    uint first;
    KernelBlochParameters p;
};
layout(set = 0, binding = 0) readonly buffer Features { Feature features[]; };
layout(set = 0, binding = 1) writeonly buffer Planes { Real planes[]; };

void main() {
    const uint step = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < count; i += step) {
        const uint sample_of = i / p.qubits, qubit = i - sample_of * p.qubits;
        const uvec2 angle =
            multiply_doubles(wide_feature(features[p.in_base + i]), uvec2(p.scale_low, p.scale_high));
        const SinCos a = sincos_of_angle(angle);
        const uint at = qubit * kParts * p.stride + p.out_base + sample_of;
        if (kParts == 2u) {
            planes[at] = kHalf * a.cosine;
            planes[at + p.stride] = kHalf * a.sine;
        } else {
            planes[at] = kHalf * a.sine * a.cosine;
            planes[at + p.stride] = kHalf * a.sine * a.sine;
            planes[at + 2u * p.stride] = kHalf * a.cosine;
        }
    }
}
