// SPDX-License-Identifier: Apache-2.0
// Hierarchical nested-lattice code of one vector. No include guard: included once for each lattice, with
//   LATTICE_POINT   struct of its points, from lattice_points.h
//   LATTICE_CODE, LATTICE_RESULT   names of the structs to define
//   LATTICE_DIM     dimension
//   LATTICE_UNITS   a point's number for 1: 2.0f for E8, else 1.0f
//   LATTICE_STEP    1 / LATTICE_UNITS
// defined before; they are undefined again at the end. `q` is a float, `inverse` 1 / q rounded by the host.
WEFT_SHARED_BEGIN

// Digits of each level, the fine one first, and what is left after the last: not zero means overload.
struct LATTICE_CODE {
    LATTICE_POINT level[4];
    LATTICE_POINT rest;
};

WEFT_FN bool is_zero(LATTICE_POINT n) {
    float sum = 0.0f;
    WEFT_UNROLL for (int i = 0; i < LATTICE_DIM; ++i) sum += abs(n.v[i]);
    return sum == 0.0f;
}

// The point nearest to n / q.
WEFT_FN LATTICE_POINT quotient(LATTICE_POINT n, float q, float inverse) {
    return nearest(n, LATTICE_UNITS * q, LATTICE_STEP * inverse, 0.25f);
}

WEFT_FN LATTICE_CODE encode_point(LATTICE_POINT n, float q, float inverse, uint levels) {
    LATTICE_CODE code;
    WEFT_UNROLL for (uint m = 0u; m < 4u; ++m) {
        if (m < levels) {
            code.level[m] = digits_of(n, q, inverse);
            n = quotient(n, q, inverse);
        }
    }
    code.rest = n;
    return code;
}

// The sum of the coarsest `depth` of `levels` levels. Of the digits of a point without overload, all levels
// give that point; of any digits the point that encode_point started from less q^levels times its rest.
WEFT_FN LATTICE_POINT decode_digits(LATTICE_CODE code, float q, float inverse, uint levels, uint depth) {
    LATTICE_POINT sum;
    WEFT_UNROLL for (int i = 0; i < LATTICE_DIM; ++i) sum.v[i] = 0.0f;
    WEFT_UNROLL for (uint back = 0u; back < 4u; ++back) {
        uint m = 3u - back;
        if (m < levels) {
            LATTICE_POINT n = point_of(code.level[m]);
            LATTICE_POINT whole = quotient(n, q, inverse);
            bool counts = m + depth >= levels;
            WEFT_UNROLL for (int i = 0; i < LATTICE_DIM; ++i) {
                float part = counts ? n.v[i] - q * whole.v[i] : 0.0f;
                sum.v[i] = sum.v[i] * q + part;
            }
        }
    }
    WEFT_UNROLL for (int i = 0; i < LATTICE_DIM; ++i) sum.v[i] = unsigned_zero(sum.v[i]);
    return sum;
}

// Uniform in the cell of the lattice around 0, in steps of 2^-12: a number of a cube that the lattice tiles,
// less the point nearest to it.
WEFT_FN LATTICE_POINT dither_of(uint key, LATTICE_POINT shape) {
    const float kSteps = 4096.0f;
    LATTICE_POINT z = shape;
    WEFT_UNROLL for (int i = 0; i < LATTICE_DIM; i += 2) {
        uint bits = lattice_mix(key + uint(i + 1) * 0x9e3779b9u);
        z.v[i] = float(bits & 8191u) - kSteps;
        z.v[i + 1] = float((bits >> 13) & 8191u) - kSteps;
    }
    LATTICE_POINT n = nearest(z, kSteps, 1.0f / kSteps, 0.25f);
    WEFT_UNROLL for (int i = 0; i < LATTICE_DIM; ++i) {
        z.v[i] = (z.v[i] - n.v[i] * (kSteps * LATTICE_STEP)) * (1.0f / kSteps);
    }
    return z;
}

// x / beta + dither, rounded after each operation. Not `dithered`: the dither is 0, which no compiler may
// leave out of a sum by itself.
WEFT_FN LATTICE_POINT scaled(LATTICE_POINT x, float inverse_beta, LATTICE_POINT dither, bool dithered) {
    LATTICE_POINT g;
    WEFT_UNROLL for (int i = 0; i < LATTICE_DIM; ++i) {
        WEFT_PRECISE float product = x.v[i] * inverse_beta;
        WEFT_PRECISE float sum = product + dither.v[i];
        g.v[i] = dithered ? sum : product;
    }
    return g;
}

// Whether the coordinates' sizes add up to more than `reach`, or one is no number. Bits, since a compiler may
// take comparisons with NaN either way.
WEFT_FN bool is_beyond(LATTICE_POINT g, float reach) {
    WEFT_PRECISE float sum = 0.0f;
    WEFT_UNROLL for (int i = 0; i < LATTICE_DIM; ++i) sum = sum + abs(g.v[i]);
    return floatBitsToUint(sum) > floatBitsToUint(reach);
}

WEFT_FN bool is_finite(LATTICE_POINT x) {
    bool finite = true;
    WEFT_UNROLL for (int i = 0; i < LATTICE_DIM; ++i) {
        finite = finite && (floatBitsToUint(x.v[i]) & 0x7f800000u) != 0x7f800000u;
    }
    return finite;
}

// Cuts g, of the values x, to what can be quantized. Returns whether x is finite.
WEFT_FN bool tamed(WEFT_INOUT(LATTICE_POINT) g, LATTICE_POINT x) {
    if (!is_beyond(g, kLatticeReach)) return true;
    bool finite = is_finite(x);
    WEFT_UNROLL for (int i = 0; i < LATTICE_DIM; ++i) {
        g.v[i] = finite ? min(max(g.v[i], -kLatticeReach), kLatticeReach) : 0.0f;
    }
    return finite;
}

WEFT_FN LATTICE_POINT shrunk(LATTICE_POINT x, float shrink) {
    WEFT_UNROLL for (int i = 0; i < LATTICE_DIM; ++i) {
        WEFT_PRECISE float smaller = x.v[i] * shrink;
        x.v[i] = smaller;
    }
    return x;
}

// The values that a decoded point stands for.
WEFT_FN LATTICE_POINT values_of(LATTICE_POINT n, LATTICE_POINT dither, float scale) {
    WEFT_UNROLL for (int i = 0; i < LATTICE_DIM; ++i) {
        WEFT_PRECISE float point = n.v[i] * LATTICE_STEP - dither.v[i];
        WEFT_PRECISE float value = point * scale;
        n.v[i] = value;
    }
    return n;
}

// A coded vector and its status byte; `point` is what the code was made of.
struct LATTICE_RESULT {
    LATTICE_CODE code;
    LATTICE_POINT point;
    uint status;
};

// Shrinks x until it can be coded, or retries are used up.
WEFT_FN LATTICE_RESULT encode_vector(LATTICE_POINT x, LATTICE_POINT dither, bool dithered,
                                     LatticeSettings settings, float q, float inverse, uint levels) {
    LATTICE_RESULT result;
    uint retries = 0u;
    bool again = true;
    while (again) {
        LATTICE_POINT g = scaled(x, settings.inverse_beta, dither, dithered);
        bool finite = tamed(g, x);
        result.point = nearest(g, 1.0f, 1.0f, kLatticeNudge);
        result.code = encode_point(result.point, q, inverse, levels);
        bool overload = !is_zero(result.code.rest);
        result.status = finite ? retries | (overload ? kLatticeOverload : 0u) : kLatticeBad;
        again = overload && retries < settings.max_retries;
        ++retries;
        x = shrunk(x, settings.shrink);
    }
    return result;
}

WEFT_SHARED_END

#include "lattice_base4_codec.h"

#undef LATTICE_POINT
#undef LATTICE_CODE
#undef LATTICE_RESULT
#undef LATTICE_DIM
#undef LATTICE_UNITS
#undef LATTICE_STEP
