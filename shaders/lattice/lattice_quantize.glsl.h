// SPDX-License-Identifier: Apache-2.0
// For each vector of x: the result of decoding its code, without making the code, and its status byte. `y`
// may be `x`. Needs lattice_interface.glsl.h and `values`, `y` and `status` from the shader.

#include "lattice_group.glsl.h"
#include "lattice_load.glsl.h"
#include "lattice_store.glsl.h"

WEFT_GPU float whole_range() {
    float range = 1.0f;
    WEFT_UNROLL for (uint m = 0; m < 4; ++m) {
        if (m < kLevels) range *= kQ;
    }
    return range;
}

WEFT_GPU uint quantize(Point x, uint vector) {
    const Point dither = dither_at(vector);
    Point n;
    uint s;
    if (is_base4()) {
        const Base4 code = encode_base4(x, dither);
        n = sum_of_bytes(code.left, base4_bias(code.left, kLevels));
        s = code.status;
    } else {
        const Result r = encode_any(x, dither);
        // Each level of a code adds n - q Q(n / q); their sum telescopes.
        n = r.point;
        WEFT_UNROLL for (uint i = 0; i < kDim; ++i) n.v[i] -= whole_range() * r.code.rest.v[i];
        s = r.status;
    }
    n = values_of(n, dither, scale_of(s == kLatticeBad ? 0 : s & 0x7fu));
    if (s == kLatticeBad) {
        WEFT_UNROLL for (uint i = 0; i < kDim; ++i) n.v[i] = uintBitsToFloat(0x7fc00000u);
    }
    store(vector, n);
    return s;
}

WEFT_MAIN() {
    const uint stride = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    if (kPerThread != 1) {
        const uint threads = count * (shape.element_vectors / 4);
        for (uint t = gl_GlobalInvocationID.x; t < threads; t += stride) {
            uint gathered = 0;
            Point next = load(4 * t);
            for (uint j = 0; j < 4; ++j) {
                const Point x = next;
                if (j < 3) next = load(4 * t + j + 1);  // loads while x is quantized
                gathered |= quantize(x, 4 * t + j) << (8 * j);
            }
            if (t < shape.status_words) status[t] = gathered;
        }
        return;
    }
    const uint end = vectors_end(), size = gl_WorkGroupSize.x, local = gl_LocalInvocationID.x;
    for (uint first = gl_WorkGroupID.x * size * kLatticeInHand; first < end;
         first += stride * kLatticeInHand) {
        Point x[kLatticeInHand];
        WEFT_UNROLL for (uint k = 0; k < kLatticeInHand; ++k) x[k] = load(first + k * size + local);
        WEFT_UNROLL for (uint k = 0; k < kLatticeInHand; ++k) {
            marked[k * size + local] = quantize(x[k], first + k * size + local);
        }
        barrier();
        store_statuses(first);
        barrier();
    }
}
