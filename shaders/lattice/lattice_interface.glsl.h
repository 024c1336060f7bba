// SPDX-License-Identifier: Apache-2.0
// The common functions of the lattice kernels. Needs lattice_types.h, the constants of a kernel and the push
// constants `count`, `first`, `settings` and `shape` from the shader. No include guard: read once for each
// kernel, like the other bodies of kernels.
WEFT_CONST uint kDim = WEFT_LATTICE;

WEFT_GPU Point zero_point() {
    Point x;
    WEFT_UNROLL for (uint i = 0; i < kDim; ++i) x.v[i] = 0.0f;
    return x;
}

WEFT_GPU Point dither_at(uint vector) {
    if (!kDither) return zero_point();
    const uint key = lattice_dither_key(settings, first * shape.element_vectors + vector);
    return dither_of(key, zero_point());
}

// The end of the vectors that exist.
WEFT_GPU uint vectors_end() {
    return min(count * shape.element_vectors, shape.vectors);
}

#define kVectorBits (kLevels * kDim * kBits)

// See lattice_base4.h. It is a function, because no specialization constant can be computed from a float.
WEFT_GPU bool is_base4() {
    return kQ == 4.0f && kLevels <= 2;
}

WEFT_GPU LatticeSettings tries() {
    LatticeSettings s = settings;
    if (!kRetries) s.max_retries = 0;
    return s;
}
