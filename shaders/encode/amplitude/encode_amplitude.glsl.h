// SPDX-License-Identifier: Apache-2.0
// amplitude: a row divided by its Euclidean norm, followed by zeros. A team of kTeam invocations makes a
// state. It keeps the row in registers, up to 2 kKept values in each invocation, so that the row is read
// once. Rows whose norm needs the careful way, which are few, are read again. Needs encode_interface.glsl.h,
// and the push constants and buffers of encode_amplitude.comp from the shader. No include guard: read once
// for each kernel.

uint row_begin;

WEFT_GPU Raw value_at(uint i) {
    return values[row_begin + i];
}
#include "encode_norm_team.glsl.h"
#include "encode_pairs.glsl.h"

WEFT_GROUP_ONE(bool, some_need_care);

// The inverse of the norm of the values that the team's invocations hold; 0 if the norm needs the careful
// way.
WEFT_GPU Real inverse_norm(Real sum, Real rest) {
    if (gl_LocalInvocationIndex == 0u) some_need_care = false;
    gather_sums(sum, rest);
    barrier();
    if (team_member() == 0u) {
        const uint lane = gl_LocalInvocationIndex;
        const bool exact = sums_exactly(norm_sum[lane]);
        if (!exact) some_need_care = true;
        norm_sum[lane] = exact ? inverse_root(norm_sum[lane], norm_rest[lane]) : kZero;
    }
    barrier();
    return norm_sum[gl_LocalInvocationIndex - team_member()];
}

// All teams of the workgroup must call it, because it contains barriers.
WEFT_GPU void make_with_care(uint row, bool mine, uint to) {
    const Norm norm = norm_with_care(mine ? p.features : 0u);
    if (!mine) return;
    if (team_member() == 0u) status[p.row_base + row] = uvec2(norm.fault, norm.position);
    if ((p.flags & kEncodeCheckOnly) != 0u) return;
    const bool good = norm.fault == kEncodeGood;
    const Real scale = good ? inverse_root(norm.sum, norm.rest) : kZero;
    const uint member = team_member();
    for (uint step = 0; step < 1u << (p.qubits - 1); step += kTeam)
        store_scaled(to, step, member, kTeam, good ? load_pair(step, member, kTeam) : RawPair(0u),
                     norm.exponent, scale);
}

WEFT_MAIN() {
    const uint teams = gl_WorkGroupSize.x / kTeam, member = team_member();
    for (uint begin = gl_WorkGroupID.x * teams; begin < count; begin += gl_NumWorkGroups.x * teams) {
        const uint row = begin + gl_LocalInvocationIndex / kTeam;
        const bool there = row < count;
        row_begin = p.in_base + (there ? row : begin) * p.features;
        RawPair kept[kKept];
        Real sum = kZero, rest = kZero;
        WEFT_UNROLL for (uint k = 0; k < kKept; ++k) kept[k] = load_pair(k * kTeam, member, kTeam);
        WEFT_UNROLL for (uint k = 0; k < kKept; ++k) add_squares(sum, rest, kept[k]);
        const Real scale = inverse_norm(sum, rest);
        const bool care = scale == kZero;
        const uint to = row << (p.qubits - (kStoreWide ? 0u : 1u));
        if (there && !care) {
            if (member == 0) status[p.row_base + row] = uvec2(kEncodeGood, 0u);
            if ((p.flags & kEncodeCheckOnly) == 0u) {
                WEFT_UNROLL for (uint k = 0; k < kKept; ++k)
                    store_plain(to, k * kTeam, member, kTeam, kept[k], scale);
            }
        }
        if (some_need_care) make_with_care(row, there && care, to);
        barrier();
    }
}
