// SPDX-License-Identifier: Apache-2.0
// The common code of the reductions of field_*.comp: which elements a workgroup adds up, and how their sum is
// computed. GLSL only; include it after the push constants.
//
// If block != 0, share g has the `block` elements from g * block on, and the last share may have fewer. These
// shares are contiguous, so run_batch can cut between them. If block == 0, the shares are interleaved, so
// that all workgroups together read the arrays from front to back.
#ifndef WEFT_SHARED_FIELD_SHARES_H
#define WEFT_SHARED_FIELD_SHARES_H

shared Element partial[gl_WorkGroupSize.x];

// The elements of one invocation: `begin` and kShareEach - 1 more at distances of gl_WorkGroupSize.x, then
// the same `step` elements further.
struct Share {
    uint begin, end, step;
};

// With block == 0 every share must have an element.
Share share_of(uint g, uint elements) {
    const uint row = gl_WorkGroupSize.x * kShareEach, first = g * (block == 0u ? row : block);
    return Share(first + gl_LocalInvocationID.x,
                 block == 0u ? elements : first + min(block, elements - first),
                 block == 0u ? count * row : row);
}

// The sum of the totals of all invocations, valid in the first one. All invocations must call it.
Element sum_of_workgroup(Element total) {
    barrier();  // the values of an earlier call have been read from `partial`
    partial[gl_LocalInvocationID.x] = total;
    for (uint half_size = gl_WorkGroupSize.x / 2; half_size > 0; half_size /= 2) {
        barrier();
        if (gl_LocalInvocationID.x < half_size)
            partial[gl_LocalInvocationID.x] =
                add_elements(partial[gl_LocalInvocationID.x], partial[gl_LocalInvocationID.x + half_size]);
    }
    return partial[0];
}

#endif
