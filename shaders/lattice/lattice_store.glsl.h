// SPDX-License-Identifier: Apache-2.0
// Stores vectors in a buffer `y` of LATTICE_VALUES.
WEFT_GPU void store(uint vector, Point p) {
    if (vector >= vectors_end()) return;
#if defined(WEFT_ROWS)
    const uint row = vector / shape.tiles, column = (vector - row * shape.tiles) * kDim;
    const uint at = row * shape.width + column;
    WEFT_UNROLL for (uint i = 0; i < kDim; ++i) {
        if (column + i < shape.width) y[at + i] = p.v[i];
    }
#elif WEFT_LATTICE == 2
    y[vector] = vec2(p.v[0], p.v[1]);
#else
    WEFT_UNROLL for (uint k = 0; k < kDim / 4; ++k) {
        y[vector * (kDim / 4) + k] = vec4(p.v[4 * k], p.v[4 * k + 1], p.v[4 * k + 2], p.v[4 * k + 3]);
    }
#endif
}
