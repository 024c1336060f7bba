// SPDX-License-Identifier: Apache-2.0
// out[i] = a[i] * b[i] / R mod p. A second pass multiplies by factor() / R; with a factor of R^2 the result is the
// product of plain values. `out` may be `a` or `b`: an element is loaded completely before it is stored, and no buffer
// is declared restrict.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "field_interface.h"

layout(local_size_x = 256, local_size_x_id = 0) in;
layout(push_constant) uniform Push { uint count; };
layout(set = 0, binding = 0) readonly buffer A { ElementPart a[]; };
layout(set = 0, binding = 1) readonly buffer B { ElementPart b[]; };
layout(set = 0, binding = 2) writeonly buffer Out { ElementPart result[]; };

void main() {
    const uint workgroup = gl_WorkGroupSize.x * kEach;
    const uint stride = gl_NumWorkGroups.x * workgroup;
    for (uint first = gl_WorkGroupID.x * workgroup + gl_LocalInvocationID.x; first < count; first += stride) {
        Element x[kEach], y[kEach];
#define READ(k) \
    if (AT(k) < count) x[k] = LOAD(a, AT(k)), y[k] = LOAD(b, AT(k));
        EACH(READ)
#define WRITE(k) \
    if (AT(k) < count) { \
        Element z = x[k], by = y[k]; \
        for (uint pass = 0; pass < kPasses; ++pass, by = factor()) z = mul_elements(z, by); \
        STORE(result, AT(k), z); \
    }
        EACH(WRITE)
    }
}
