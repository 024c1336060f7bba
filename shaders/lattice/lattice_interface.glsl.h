// SPDX-License-Identifier: Apache-2.0
// The common functions of the lattice kernels. Needs lattice_types.h, the constants of a kernel, the push
// constants `count`, `first`, `settings` and `shape` and the table `scales` from the shader. No include
// guard: read once for each kernel, like the other bodies of kernels.
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

// Whether a vector with this status is coded again, after so many retries.
WEFT_GPU bool is_retried(uint status, uint retries) {
    return kRetries && status == kLatticeOverload && retries < settings.max_retries;
}

// Shrinks x until it can be coded, or retries are used up. Every try multiplies x itself, so that rounding
// does not grow with their number.
WEFT_GPU Result encode_any(Point x, Point dither) {
    Result r;
    Point tried = x;
    uint retries = 0;
    bool again = true;
    while (again) {
        r = encode_vector(tried, dither, kDither, settings.inverse_beta, kQ, kInverseQ, kLevels);
        again = is_retried(r.status, retries);
        if (again) tried = shrunk(x, scales[lattice_shrink_at(++retries)]);
    }
    r.status |= retries;
    return r;
}
WEFT_GPU Base4 encode_base4(Point x, Point dither) {
    Base4 code;
    Point tried = x;
    uint retries = 0;
    bool again = true;
    while (again) {
        code = base4_vector(tried, dither, kDither, settings.inverse_beta, kLevels);
        again = is_retried(code.status, retries);
        if (again) tried = shrunk(x, scales[lattice_shrink_at(++retries)]);
    }
    code.status |= retries;
    return code;
}

// What the point of a vector is multiplied by. `retries` is at most settings.max_retries.
WEFT_GPU float scale_of(uint retries) {
    if (!kRetries || retries == 0) return settings.beta;
    WEFT_PRECISE float scale = settings.beta * scales[lattice_grow_at(retries)];
    return scale;
}
