// SPDX-License-Identifier: Apache-2.0
// out[i] = FACTOR * in[i] + first, with the index of weft.glsl, in workgroups of three dimensions. It is built with
// weft and compiled again at run time.
#version 450
#include "weft.glsl"

#ifndef FACTOR
#define FACTOR 3
#endif

layout(local_size_x_id = 0, local_size_y = 2, local_size_z = 3) in;
layout(set = 0, binding = 0) readonly buffer In { uint given[]; };
layout(set = 0, binding = 1) writeonly buffer Out { uint made[]; };
layout(push_constant) uniform Block { WEFT_COUNT_FIRST } block;

void main() {
    const uint i = weft_index();
    if (i < block.count) made[i] = FACTOR * given[i] + block.first;
}
