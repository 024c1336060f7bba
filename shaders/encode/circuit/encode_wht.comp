// SPDX-License-Identifier: Apache-2.0
// One pass of a Walsh-Hadamard transform in place, over kBits bits of the index from bit `base` on. The index counts
// units of 16 bytes, and an element is 2^kBits units.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shaders/encode/encode_parameters.h"

#if defined(WEFT_REAL64)
#define Unit dvec2
#else
#define Unit vec4
#endif

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint kBits = 4;
layout(push_constant) uniform Push {
    uint count;
    uint first;
    EncodeParameters p;
};
layout(set = 0, binding = 0) buffer States { Unit states[]; };

void main() {
    const uint step = gl_NumWorkGroups.x * gl_WorkGroupSize.x, low = p.base;
    for (uint i = gl_GlobalInvocationID.x; i < count; i += step) {
        const uint at = (i & ((1u << low) - 1u)) | ((i >> low) << (low + kBits));
        Unit v[16];
        WEFT_UNROLL for (uint k = 0u; k < 16u; ++k) if (k < (1u << kBits)) v[k] = states[at + (k << low)];
        WEFT_UNROLL for (uint bit = 0u; bit < 4u; ++bit) {
            WEFT_UNROLL for (uint k = 0u; k < 16u; ++k) {
                const uint other = k | (1u << bit);
                if (other != k && other < (1u << kBits)) {
                    const Unit a = v[k], b = v[other];
                    v[k] = a + b;
                    v[other] = a - b;
                }
            }
        }
        WEFT_UNROLL for (uint k = 0u; k < 16u; ++k) if (k < (1u << kBits)) states[at + (k << low)] = v[k];
    }
}
