// SPDX-License-Identifier: Apache-2.0
// The factors that normalise the kernel values of states: 1 / sqrt(max(norm^4 + jitter, 1e-12)), with a
// workgroup for each state. With WEFT_SQUARES they are computed from p.amplitudes sums of squares of parts of
// a state. Needs the push constants and buffers of kernel_norms.comp from the shader. No include guard: read
// once for each kernel.

WEFT_GROUP(Real, sums, 128);

#if !defined(WEFT_SQUARES)
WEFT_GPU Real2 state_at(uint i) {
#if defined(WEFT_REAL64)
    if (kWidened) return Real2(narrow_states[i].x, narrow_states[i].y);
#endif
    return states[i];
}
#endif

WEFT_MAIN() {
    for (uint row = gl_WorkGroupID.x; row < count; row += gl_NumWorkGroups.x) {
        Real sum = kZero;
        WEFT_PRECISE Real lost = kZero;  // the rounding error of the sum so far
        for (uint i = gl_LocalInvocationIndex; i < p.amplitudes; i += gl_WorkGroupSize.x) {
#if defined(WEFT_SQUARES)
            WEFT_PRECISE const Real term = squares[row * p.amplitudes + i] - lost;
#else
            const Real2 a = state_at(p.before + row * p.amplitudes + i);
            WEFT_PRECISE const Real term = fma(a.x, a.x, a.y * a.y) - lost;
#endif
            WEFT_PRECISE const Real next = sum + term;
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
#if defined(WEFT_REAL64)
            const Real jitter = packDouble2x32(uvec2(p.jitter_low, p.jitter_high));
#else
            const Real jitter = uintBitsToFloat(p.jitter_low);
#endif
            const Real least = Real(1e-12), own = sums[0] * sums[0] + jitter;
            factors[p.out_base + row] = kOne / sqrt(own < least ? least : own);
        }
    }
}
