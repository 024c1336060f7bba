// SPDX-License-Identifier: Apache-2.0
// What the reductions of field_*.comp have in common: which elements a workgroup adds up, and how their sum
// is made. GLSL only; included behind the push constants.
//
// block != 0: share g is the elements from g * block on, `block` of them, the last one fewer: shares lie
// apart, and run_batch can cut between them. block == 0: the shares are laid between each other, so that all
// workgroups together read the arrays from front to back.
#ifndef WEFT_SHARED_FIELD_SHARES_H
#define WEFT_SHARED_FIELD_SHARES_H

shared Element partial[gl_WorkGroupSize.x];

// Element numbers of one invocation: `begin` and, gl_WorkGroupSize.x apart, kShareEach - 1 more, then `step`
// further.
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

// The sum of all invocations' totals, in the first one. For all of them to call.
Element sum_of_workgroup(Element total) {
    barrier();  // what was left in `partial` is read
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
