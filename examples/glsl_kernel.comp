// SPDX-License-Identifier: Apache-2.0
// Counts the steps in which a number reaches 1, up to MAX_STEPS. A step halves an even number, and replaces an odd
// number n by 3 n + 1.
#version 450
#include "weft.glsl"

layout(local_size_x = 128) in;
layout(set = 0, binding = 0) readonly buffer Start { uint start[]; };
layout(set = 0, binding = 1) writeonly buffer Steps { uint steps[]; };
layout(push_constant) uniform Block { WEFT_COUNT_FIRST } block;

void main() {
    const uint i = weft_index();
    if (i >= block.count) return;
    uint n = start[i], taken = 0;
    while (n != 1 && taken < MAX_STEPS) {
        n = n % 2 == 0 ? n / 2 : 3 * n + 1;
        ++taken;
    }
    steps[i] = taken;
}
