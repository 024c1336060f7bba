// SPDX-License-Identifier: Apache-2.0
// Vectors in codes of base 4 with one or two levels. Included by lattice_codec.h for each lattice, with
//   LATTICE_BYTES, LATTICE_QUARTER   its structs of lattice_base4.h
//   LATTICE_WORDS                    words of LATTICE_BYTES
//   LATTICE_BASE4                    name of the struct to define
// defined besides. LATTICE_UNITS numbers are 1, so that what is left of a level is at most 4 * LATTICE_UNITS.
WEFT_SHARED_BEGIN

struct LATTICE_BASE4 {
    uint digits;         // level m, coordinate i in bits 2 (m d + i)
    LATTICE_BYTES left;  // the point that they stand for, with the bias of base4_bias
    uint status;
};

// What `levels` levels add to the bytes of sums of what is left.
WEFT_FN float base4_bias(LATTICE_BYTES, uint levels) {
    return 4.0f * LATTICE_UNITS * (levels == 2u ? 5.0f : float(levels));
}

// The code of g, none of whose coordinates is beyond 62; the status is kLatticeOverload or 0.
WEFT_FN LATTICE_BASE4 base4_point(LATTICE_POINT g, uint levels) {
    LATTICE_BYTES n = nearest_bytes(g);
    LATTICE_BASE4 code;
    code.digits = 0u;
    WEFT_UNROLL for (int k = 0; k < LATTICE_WORDS; ++k) code.left.v[k] = 0u;
    WEFT_UNROLL for (uint m = 0u; m < 2u; ++m) {
        if (m < levels) {
            code.digits |= digits_of(n) << (2u * uint(LATTICE_DIM) * m);
            LATTICE_QUARTER step = quarter(n);
            WEFT_UNROLL for (int k = 0; k < LATTICE_WORDS; ++k) code.left.v[k] += step.left.v[k] << (2u * m);
            n = step.next;
        }
    }
    // The modulus: 128 (E8: 256), a quarter of it a level; half of it is 0.
    uint modulus = uint(128.0f * LATTICE_UNITS) >> (2u * levels);
    uint ones = LATTICE_DIM == 2 ? 0x0101u : kLatticeOnes, rest = 0u;
    WEFT_UNROLL for (int k = 0; k < LATTICE_WORDS; ++k) rest |= n.v[k] ^ (modulus / 2u * ones);
    code.status = (rest & ((modulus - 1u) * ones)) != 0u ? kLatticeOverload : 0u;
    return code;
}

// As tamed(), and then cuts multiples of 32 off, which are points of 4^levels times the lattice.
WEFT_FN bool folded(WEFT_INOUT(LATTICE_POINT) g, LATTICE_POINT x) {
    bool finite = tamed(g, x);
    WEFT_UNROLL for (int i = 0; i < LATTICE_DIM; ++i) {
        // To the nearest of them, which leaves numbers up to 16 alone and is exact beyond.
        WEFT_PRECISE float near = g.v[i] * 0.03125f + 12582912.0f;
        WEFT_PRECISE float turns = near - 12582912.0f;
        WEFT_PRECISE float left = g.v[i] - 32.0f * turns;
        g.v[i] = left;
    }
    return finite;
}

// As encode_vector, for q = 4 and `levels` 1 or 2.
WEFT_FN LATTICE_BASE4 base4_vector(LATTICE_POINT x, LATTICE_POINT dither, bool dithered,
                                   LatticeSettings settings, uint levels) {
    LATTICE_BASE4 code;
    uint retries = 0u;
    bool again = true;
    while (again) {
        LATTICE_POINT g = scaled(x, settings.inverse_beta, dither, dithered);
        // No code reaches further than 16 + 4 + 1 times a cell's radius, so no sum of coordinates beyond 60.
        bool far = is_beyond(g, 62.0f);
        bool finite = true;
        if (far) finite = folded(g, x);
        code = base4_point(g, levels);
        bool overload = far || code.status != 0u;
        code.status = finite ? retries | (overload ? kLatticeOverload : 0u) : kLatticeBad;
        again = finite && overload && retries < settings.max_retries;
        ++retries;
        x = shrunk(x, settings.shrink);
    }
    return code;
}

// As decode_digits. `sum` is zero.
WEFT_FN LATTICE_POINT base4_decode(uint digits, uint levels, uint depth, LATTICE_BYTES sum) {
    float bias = 0.0f;
    WEFT_UNROLL for (uint m = 0u; m < 2u; ++m) {
        if (m < levels && m + depth >= levels) {
            LATTICE_QUARTER step = quarter(bytes_of_digits(digits >> (2u * uint(LATTICE_DIM) * m), sum));
            WEFT_UNROLL for (int k = 0; k < LATTICE_WORDS; ++k) sum.v[k] += step.left.v[k] << (2u * m);
            bias += 4.0f * LATTICE_UNITS * (m == 0u ? 1.0f : 4.0f);
        }
    }
    return sum_of_bytes(sum, bias);
}

WEFT_SHARED_END

#undef LATTICE_BYTES
#undef LATTICE_QUARTER
#undef LATTICE_WORDS
#undef LATTICE_BASE4
