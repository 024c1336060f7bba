// SPDX-License-Identifier: Apache-2.0
// amplitude, long rows, third step: values times the inverse of their row's norm. An element is 16 bytes of a state.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shared/encode_form.h"

layout(local_size_x_id = 0) in;
layout(push_constant) uniform Push {
    uint count;
    uint first;
    EncodeParameters p;  // features: of a row in the bound input; slab_bits: bits of an amplitude's place in its row
};
layout(set = 0, binding = 0) readonly buffer Values { Raw values[]; };
layout(set = 0, binding = 1) readonly buffer Rows { uvec4 norms[]; };
layout(set = 0, binding = 2) writeonly buffer States { uvec4 states[]; };

Raw value_at(uint i) { return values[i]; }
#include "shared/encode_norm.h"
#include "shared/encode_norm_record.h"

Real amplitude(uint row, uint place, int exponent, Real scale) {
    if (place >= p.features) return kZero;
    precise Real value = value_of(values[p.in_base + row * p.features + place], exponent) * scale;
    return value;
}

void main() {
    const uint per_store = kStoreWide ? 1u : 2u, step = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint j = gl_GlobalInvocationID.x; j < count; j += step) {
        const uint row = (j * per_store) >> p.slab_bits, place = (j * per_store) & ((1u << p.slab_bits) - 1u);
        Norm norm;
        read_norm(p.row_base + row, norm);
        uvec4 bytes = uvec4(0u);
        if (norm.fault == kEncodeGood) {
            const Complex a = complex(amplitude(row, place, norm.exponent, norm.sum), kZero);
            if (kStoreWide)
                bytes = packed(a, a);
            else
                bytes = packed(a, complex(amplitude(row, place + 1u, norm.exponent, norm.sum), kZero));
        }
        states[j] = bytes;
    }
}
