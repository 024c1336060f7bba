// SPDX-License-Identifier: Apache-2.0
// What kernel values of a state are divided by: 1 / sqrt(max(norm^4 + jitter, 1e-12)). A workgroup a state.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shared/kernel_form.h"

layout(local_size_x = 128) in;
layout(push_constant) uniform Push {
    uint count;
    uint first;
    KernelNormParameters p;
};
#if defined(WEFT_WORK64)
#define Real2 dvec2
#else
#define Real2 vec2
#endif
layout(set = 0, binding = 0) readonly buffer States { Real2 states[]; };
layout(set = 0, binding = 1) writeonly buffer Factors { Real factors[]; };

shared Real sums[128];

void main() {
    for (uint row = gl_WorkGroupID.x; row < count; row += gl_NumWorkGroups.x) {
        Real sum = kZero;
        precise Real lost = kZero;  // what rounding took from the sum so far
        for (uint i = gl_LocalInvocationIndex; i < p.amplitudes; i += gl_WorkGroupSize.x) {
            const Real2 a = states[p.before + row * p.amplitudes + i];
            precise const Real term = fma(a.x, a.x, a.y * a.y) - lost;
            precise const Real next = sum + term;
            lost = (next - sum) - term;
            sum = next;
        }
        barrier();
        sums[gl_LocalInvocationIndex] = sum;
        for (uint half_way = gl_WorkGroupSize.x / 2u; half_way > 0u; half_way /= 2u) {
            barrier();
            if (gl_LocalInvocationIndex < half_way)
                sums[gl_LocalInvocationIndex] += sums[gl_LocalInvocationIndex + half_way];
        }
        if (gl_LocalInvocationIndex == 0u) {
#if defined(WEFT_WORK64)
            const Real jitter = packDouble2x32(uvec2(p.jitter_low, p.jitter_high));
#else
            const Real jitter = uintBitsToFloat(p.jitter_low);
#endif
            const Real least = Real(1e-12), own = sums[0] * sums[0] + jitter;
            factors[p.out_base + row] = kOne / sqrt(own < least ? least : own);
        }
    }
}
