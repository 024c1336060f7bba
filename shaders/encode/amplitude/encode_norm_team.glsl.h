// SPDX-License-Identifier: Apache-2.0
// Norms of rows that invocations share. kTeam, a power of two, is their number; by default it is the
// workgroup. Needs what encode_norm.glsl.h needs.
#include "encode_norm.glsl.h"

#if !defined(kTeam)
#define kTeam WEFT_GROUP_SIZE
#endif
WEFT_GROUP(Real, norm_sum, WEFT_GROUP_SIZE);
WEFT_GROUP(Real, norm_rest, WEFT_GROUP_SIZE);
WEFT_GROUP(uint, norm_word, WEFT_GROUP_SIZE);

WEFT_GPU uint team_member() {
    return gl_LocalInvocationIndex & (kTeam - 1u);
}

// Adds up the sums of a team's first `parts` invocations, a power of two. The result is in norm_sum and
// norm_rest of the team's first invocation, which may read it immediately; the others need a barrier before.
WEFT_GPU void gather_parts(Real sum, Real rest, uint parts) {
    const uint lane = gl_LocalInvocationIndex, member = team_member();
    norm_sum[lane] = sum;
    norm_rest[lane] = rest;
    while (parts > 1u) {
        const uint ways = parts >= 4u ? 4u : 2u;
        parts /= ways;
        barrier();
        if (member < parts) {
            Real total = norm_sum[lane], left = norm_rest[lane];
            for (uint k = 1u; k < ways; ++k) {
                left += norm_rest[lane + k * parts];
                add_to(total, left, norm_sum[lane + k * parts]);
            }
            norm_sum[lane] = total;
            norm_rest[lane] = left;
        }
    }
}

WEFT_GPU void gather_sums(Real sum, Real rest) {
    gather_parts(sum, rest, kTeam);
}

// Adds up the sums of all invocations of a team; all of them get the result.
WEFT_GPU void reduce_sum(WEFT_INOUT(Real) sum, WEFT_INOUT(Real) rest) {
    gather_sums(sum, rest);
    barrier();
    const uint first_of_team = gl_LocalInvocationIndex - team_member();
    sum = norm_sum[first_of_team];
    rest = norm_rest[first_of_team];
    barrier();
}

WEFT_GPU uint reduce_max(uint word) {
    const uint lane = gl_LocalInvocationIndex, member = team_member();
    norm_word[lane] = word;
    for (uint half_size = kTeam / 2; half_size > 0; half_size /= 2) {
        barrier();
        if (member < half_size) norm_word[lane] = max(norm_word[lane], norm_word[lane + half_size]);
    }
    barrier();
    const uint result = norm_word[lane - member];
    barrier();
    return result;
}

// The careful way, for values value_at(0) to value_at(length - 1) whose plain sum is out of range.
WEFT_GPU Norm norm_with_care(uint length) {
    Extremes found = no_extremes();
    for (uint i = team_member(); i < length; i += kTeam) note_value(found, value_at(i), i);
    found.first_bad = ~reduce_max(~found.first_bad);
    found.high = reduce_max(found.high);
    found.low = reduce_max(found.low);
    Norm norm = unsummed_norm(found);
    // No early return: all teams of a workgroup must reach the same barriers, whatever their rows hold.
    const uint summed = norm.fault == kEncodeGood ? length : 0u;
    for (uint i = team_member(); i < summed; i += kTeam)
        add_square(norm.sum, norm.rest, scaled(value_at(i), norm.exponent));
    reduce_sum(norm.sum, norm.rest);
    return norm;
}
