// SPDX-License-Identifier: Apache-2.0
// Products as transforms make them, and nothing else: each invocation makes 4 chains of 64 from its element.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shaders/ntt/ntt_interface.glsl.h"

layout(local_size_x = 128, local_size_x_id = 0) in;
layout(push_constant) uniform Push { uint count; };
layout(set = 0, binding = 0) buffer A { ElementPart a[]; };

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i >= count) return;
    const Element x = LOAD(a, i);
    Element chain[4];
    chain[0] = x;
    WEFT_UNROLL for (int k = 1; k < 4; ++k) chain[k] = sum_of(chain[k - 1], x);
    WEFT_ROLL for (uint round = 0u; round < 64u; ++round) {
        WEFT_UNROLL for (int k = 0; k < 4; ++k) chain[k] = product_of(chain[k], x);
    }
    WEFT_UNROLL for (int k = 1; k < 4; ++k) chain[0] = sum_of(chain[0], chain[k]);
    STORE(a, i, chain[0]);
}
