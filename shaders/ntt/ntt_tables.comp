// SPDX-License-Identifier: Apache-2.0
// Tables of transforms: entry i is scale * base^e, where e is i if row_bits is 0. Otherwise row_bits bits of i from
// `split` on, reversed, are multiplied by the number that the other bits make. With WEFT_NTT_QUICK, of elements of 4
// bytes, entries are plain factors and 2^32 / p times these.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "ntt_interface.glsl.h"
#include "ntt_index.h"

layout(local_size_x = 64, local_size_x_id = 0) in;
layout(push_constant) uniform Push {
    uint count, first, first_entry, row_bits, split;
    uint base[WEFT_FIELD_WORDS], scale[WEFT_FIELD_WORDS];
};
#if defined(WEFT_NTT_QUICK)
layout(set = 0, binding = 0) writeonly buffer Out { uvec2 result[]; };
#define PUT(i, z) result[i] = quick_of_montgomery(z, modulus(), kN0)
#else
layout(set = 0, binding = 0) writeonly buffer Out { ElementPart result[]; };
#define PUT(i, z) STORE(result, i, z)
#endif

void main() {
    const uint stride = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < count; i += stride) {
        uint exponent = i;
        if (row_bits != 0u)
            exponent = reversed_bits((i >> split) & low_mask(row_bits), row_bits) *
                       (((i >> (split + row_bits)) << split) | (i & low_mask(split)));
        Element power, z;
        WEFT_UNROLL for (int w = 0; w < WEFT_FIELD_WORDS; ++w) {
            power.limb[w] = base[w];
            z.limb[w] = scale[w];
        }
        WEFT_ROLL for (; exponent != 0u; exponent >>= 1) {
            if ((exponent & 1u) != 0u) z = product_of(z, power);
            power = product_of(power, power);
        }
        PUT(first_entry + i, z);
    }
}
