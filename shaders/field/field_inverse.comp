// SPDX-License-Identifier: Apache-2.0
// out[i] = 1 / a[i] mod p, and 0 for 0; `out` may be `a`. Each invocation inverts the product of up to kBatch elements
// with one power of p - 2, and derives the inverse of each element from it. This costs three products for each element
// and a share of the power.
//
// The product starts with factor(), which cancels in each result. The power is then multiplied by factor() / R once, to
// suit the form of the values: a factor of R changes nothing, and 1 / R is right for plain values.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "field_interface.h"

layout(local_size_x = 256, local_size_x_id = 0) in;
layout(push_constant) uniform Push { uint count; };
layout(set = 0, binding = 0) readonly buffer A { ElementPart a[]; };
layout(set = 0, binding = 1) writeonly buffer Out { ElementPart result[]; };

Element power_p_minus_2(Element x) {
    Element two = zero_element();
    two.limb[0] = 2u;
    const Element exponent = sub_elements(modulus(), two);
    Element power = x;
    for (int bit = 32 * (WEFT_FIELD_WORDS - 1) + findMSB(modulus().limb[WEFT_FIELD_WORDS - 1]) - 1; bit >= 0; --bit) {
        const uint steps = 1u + (exponent.limb[bit / 32] >> (bit % 32) & 1u);
        Element by = power;
        for (uint step = 0; step < steps; ++step, by = x) power = mul_elements(power, by);
    }
    return power;
}

void main() {
    const uint stride = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    uint first = gl_GlobalInvocationID.x;
    while (first < count) {
        Element before[kBatch], product = factor();
        uint taken = 0, zeros = 0;
        for (uint i = first; taken < kBatch && i < count; ++taken, i += stride) {
            before[taken] = product;
            const Element next = mul_elements(product, LOAD(a, i));
            if (is_zero(next))
                zeros |= 1u << taken;
            else
                product = next;
        }
        Element inverse = mul_elements(power_p_minus_2(product), factor());
        for (uint k = taken; k-- > 0;) {
            const uint i = first + k * stride;
            Element z = zero_element();
            if ((zeros >> k & 1u) == 0u) {
                z = mul_elements(inverse, before[k]);
                inverse = mul_elements(inverse, LOAD(a, i));
            }
            STORE(result, i, z);
        }
        // stride * kBatch may exceed 2^32.
        if (stride > (count - first - 1) / kBatch) break;
        first += stride * kBatch;
    }
}
