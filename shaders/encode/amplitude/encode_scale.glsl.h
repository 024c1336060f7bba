// SPDX-License-Identifier: Apache-2.0
// amplitude, long rows, third step: multiplies values by the inverse of their row's norm. An element is 16
// bytes of a state. Needs encode_interface.glsl.h, and the push constants and buffers of encode_scale.comp
// from the shader. No include guard: read once for each kernel.

WEFT_GPU Raw value_at(uint i) {
    return values[i];
}
#include "encode_norm.glsl.h"
#include "encode_norm_record.glsl.h"

WEFT_GPU Real amplitude(uint row, uint place, int exponent, Real scale) {
    if (place >= p.features) return kZero;
    WEFT_PRECISE Real value = value_of(values[p.in_base + row * p.features + place], exponent) * scale;
    return value;
}

WEFT_MAIN() {
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
