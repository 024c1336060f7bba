// SPDX-License-Identifier: Apache-2.0
// Joins the norms of a row's blocks. Needs encode_norm_team.glsl.h and `Norm norm_at(uint block)` from the
// shader. All invocations of a workgroup must call combine_norms, and all get the result.
WEFT_CONST int kBias = 1 << 20;  // makes exponents, kPlain included, sort as unsigned numbers

// value * 4^shift for shift <= 0.
WEFT_GPU Real shrink(Real value, int shift) {
    const Real quarter = kHalf * kHalf;
    if (shift < -600) return kZero;
    for (; shift < 0; ++shift) value *= quarter;
    return value;
}

// The joined norm; its sum is the inverse of the root of all sums.
WEFT_GPU Norm combine_norms(uint blocks) {
    Norm all, norm;
    all.sum = kZero;
    all.rest = kZero;
    uint most = 0u, worst = 0xffffffffu;
    bool scaled_blocks = false;
    for (uint i = gl_LocalInvocationIndex; i < blocks; i += gl_WorkGroupSize.x) {
        norm = norm_at(i);
        if (norm.fault == kEncodeZeroNorm) continue;
        if (norm.fault != kEncodeGood) worst = min(worst, i);
        most = max(most, uint((norm.exponent == kPlain ? 0 : norm.exponent) + kBias));
        scaled_blocks = scaled_blocks || norm.exponent != kPlain;
    }
    most = reduce_max(most);
    worst = ~reduce_max(~worst);
    scaled_blocks = reduce_max(scaled_blocks ? 1u : 0u) != 0u;
    const int exponent = int(most) - kBias;
    for (uint i = gl_LocalInvocationIndex; i < blocks; i += gl_WorkGroupSize.x) {
        norm = norm_at(i);
        if (norm.fault != kEncodeGood) continue;
        const int shift = (norm.exponent == kPlain ? 0 : norm.exponent) - exponent;
        add_to(all.sum, all.rest, shrink(norm.sum, shift));
        all.rest += shrink(norm.rest, shift);
    }
    reduce_sum(all.sum, all.rest);
    all.fault = kEncodeGood;
    all.position = 0u;
    all.exponent = scaled_blocks && exponent != 0 ? exponent : kPlain;
    if (worst != 0xffffffffu)
        all = norm_at(worst);
    else if (most == 0u)
        all.fault = kEncodeZeroNorm;
    all.sum = all.fault == kEncodeGood ? inverse_root(all.sum, all.rest) : kZero;
    return all;
}
