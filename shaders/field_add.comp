// SPDX-License-Identifier: Apache-2.0
// out[i] = a[i] + b[i] mod p. `out` may be `a` or `b`: an element is loaded whole before it is stored, and nothing is
// restrict.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shared/field_form.h"

layout(local_size_x = 256, local_size_x_id = 0) in;
layout(push_constant) uniform Push { uint count; };
layout(set = 0, binding = 0) readonly buffer A { uvec4 a[]; };
layout(set = 0, binding = 1) readonly buffer B { uvec4 b[]; };
layout(set = 0, binding = 2) writeonly buffer Out { uvec4 result[]; };

void main() {
    const uint stride = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < count; i += stride) {
        const uint at = 3 * i;
        const Fp x = fp_load(a[at], a[at + 1], a[at + 2]);
        const Fp y = fp_load(b[at], b[at + 1], b[at + 2]);
        const Fp z = add_mod(x, y, fp_modulus());
        result[at] = part_of(z, 0);
        result[at + 1] = part_of(z, 1);
        result[at + 2] = part_of(z, 2);
    }
}
