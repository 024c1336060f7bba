// SPDX-License-Identifier: Apache-2.0
// Vectors in a buffer `values` of LATTICE_VALUES.
WEFT_GPU Point load(uint vector) {
    Point p = zero_point();
    if (vector >= vectors_end()) return p;
#if defined(WEFT_ROWS)
    const uint row = vector / shape.tiles, column = (vector - row * shape.tiles) * kDim;
    const uint at = row * shape.width + column;
    WEFT_UNROLL for (uint i = 0; i < kDim; ++i) {
        if (column + i < shape.width) p.v[i] = values[at + i];
    }
#elif WEFT_LATTICE == 2
    const vec2 a = values[vector];
    p.v[0] = a.x, p.v[1] = a.y;
#else
    WEFT_UNROLL for (uint k = 0; k < kDim / 4; ++k) {
        const vec4 a = values[vector * (kDim / 4) + k];
        p.v[4 * k] = a.x, p.v[4 * k + 1] = a.y, p.v[4 * k + 2] = a.z, p.v[4 * k + 3] = a.w;
    }
#endif
    return p;
}
