// SPDX-License-Identifier: Apache-2.0
// The lattices Z2, D4 and E8: nearest point, digits of a point, point of digits (Conway & Sloane 1982).
//
// All numbers are floats, because float arithmetic is the fastest on a GPU, and the arithmetic is exact:
// points, digits, and residuals from the second quantization on are integers below 2^22. Only the first step
// rounds, the product of the user's values and 1/beta. For |x| <= kLatticeReach the functions here round only
// a distance to 1/2 that is below 2^-25.
//
//   nearest(x, scale, inverse, nudge)   the point nearest to x / scale. Ties are equivariant,
//   Q(x + l) = Q(x) + l:
//       halves round up; if the parity must change, the coordinate with the largest residual (the first of
//       equals) moves towards x, and upwards if the residual is 0; between the cosets of E8 the
//       lexicographically smaller residual wins. `inverse` is 1 / scale to an ulp. `nudge` is added to x
//       before floor. It is 1/4 for integers, so that the division by `scale` does not push them below a
//       multiple of it. It is kLatticeNudge for real numbers, so that negative denormal numbers become 0
//       whether the device flushes them or not.
//   digits_of(n, q, inverse)            (G^-1 n) mod q, G as in `point_of`; `inverse` is 1 / q to an ulp
//   point_of(b)                         G b
//
// Points of E8 are stored doubled, so that all coordinates are integers: nearest returns 2 Q(x / scale), and
// digits_of and point_of work on 2 n.
#ifndef WEFT_SHARED_LATTICE_POINTS_H
#define WEFT_SHARED_LATTICE_POINTS_H

#include "shaders/shared/portable.h"

WEFT_SHARED_BEGIN

const float kLatticeReach = 131072.0f;  // 2^17: twice the range of a code with q^levels <= 2^16
const float kLatticeNudge = 9.31322574615478516e-10f;  // 2^-30

struct Z2Point {
    float v[2];
};
struct D4Point {
    float v[4];
};
struct E8Point {
    float v[8];
};

WEFT_FN bool is_odd(float n) {
    return n - 2.0f * floor(n * 0.5f) != 0.0f;
}

// Returns 0 for -0, which compilers may produce from a sum of zeros. It compares bits, since x + 0 may become
// x.
WEFT_FN float unsigned_zero(float n) {
    uint bits = floatBitsToUint(n);
    return uintBitsToFloat(bits == 0x80000000u ? 0u : bits);
}

WEFT_FN float mod_digit(float b, float q, float inverse) {
    WEFT_PRECISE float turns = floor((b + 0.25f) * inverse);
    return b - q * turns;
}

WEFT_FN Z2Point nearest(Z2Point x, float scale, float inverse, float nudge) {
    Z2Point n;
    WEFT_UNROLL for (int i = 0; i < 2; ++i) {
        WEFT_PRECISE float below = floor((x.v[i] + nudge) * inverse);
        WEFT_PRECISE float centred = x.v[i] - (below * scale + 0.5f * scale);
        n.v[i] = below + (centred >= 0.0f ? 1.0f : 0.0f);
    }
    return n;
}

// The residual of the nearer integer is 1/2 - |centred|, so the largest residual has the smallest |centred|.
// The coordinate that moves for parity is rounded in the other direction.
WEFT_FN D4Point nearest(D4Point x, float scale, float inverse, float nudge) {
    float below[4], centred[4];
    float sum = 0.0f, least = scale;
    WEFT_UNROLL for (int i = 0; i < 4; ++i) {
        WEFT_PRECISE float b = floor((x.v[i] + nudge) * inverse);
        WEFT_PRECISE float c = x.v[i] - (b * scale + 0.5f * scale);
        below[i] = b;
        centred[i] = c;
        sum += c >= 0.0f ? b + 1.0f : b;
        least = min(least, abs(c));
    }
    bool move = is_odd(sum);
    D4Point n;
    WEFT_UNROLL for (int i = 0; i < 4; ++i) {
        bool moved = move && abs(centred[i]) == least;
        n.v[i] = below[i] + ((centred[i] >= 0.0f) != moved ? 1.0f : 0.0f);
        move = move && !moved;
    }
    return n;
}

// Both cosets use floor(x). In units of scale, residuals are r = c +- 1/2 for the integers, so |r| = 1/2 -
// |c|, and c for the halves. Then the difference of the squared distances, with the cost of a coordinate that
// moves for parity, is a sum of |c| without squares:
//   (half - whole) / scale = sum |c| - 2 + odd_half (1 - 2 max |c|) - odd_whole 2 min |c|
WEFT_FN E8Point nearest(E8Point x, float scale, float inverse, float nudge) {
    float below[8], centred[8];
    float sum = 0.0f, ups = 0.0f, least = scale, most = 0.0f;
    WEFT_PRECISE float spread = 0.0f;
    WEFT_UNROLL for (int i = 0; i < 8; ++i) {
        WEFT_PRECISE float b = floor((x.v[i] + nudge) * inverse);
        WEFT_PRECISE float c = x.v[i] - (b * scale + 0.5f * scale);
        below[i] = b;
        centred[i] = c;
        sum += b;
        ups += c >= 0.0f ? 1.0f : 0.0f;
        spread = spread + abs(c);
        least = min(least, abs(c));
        most = max(most, abs(c));
    }
    bool odd_half = is_odd(sum), odd_whole = is_odd(sum + ups);
    WEFT_PRECISE float even = spread - 2.0f * scale;
    WEFT_PRECISE float half_cost = odd_half ? scale - 2.0f * most : 0.0f;
    WEFT_PRECISE float whole_cost = odd_whole ? 2.0f * least : 0.0f;
    WEFT_PRECISE float difference = (even + half_cost) - whole_cost;

    // A tie is decided by the first residuals, which always differ: one is the other +- scale / 2.
    bool up = centred[0] >= 0.0f;
    bool half_moves_first = odd_half && abs(centred[0]) == most;
    bool whole_goes_up = up != (odd_whole && abs(centred[0]) == least);
    bool whole_smaller = half_moves_first ? !up : whole_goes_up;
    bool take_half = difference < 0.0f || (difference == 0.0f && !whole_smaller);

    bool move = take_half ? odd_half : odd_whole;
    float target = take_half ? most : least;
    E8Point n;
    WEFT_UNROLL for (int i = 0; i < 8; ++i) {
        bool moved = move && abs(centred[i]) == target;
        bool rises = centred[i] >= 0.0f;
        float whole = rises != moved ? 2.0f : 0.0f;
        float half_step = moved ? (rises ? 3.0f : -1.0f) : 1.0f;
        n.v[i] = 2.0f * below[i] + (take_half ? half_step : whole);
        move = move && !moved;
    }
    return n;
}

WEFT_FN Z2Point digits_of(Z2Point n, float q, float inverse) {
    Z2Point b;
    WEFT_UNROLL for (int i = 0; i < 2; ++i) b.v[i] = mod_digit(n.v[i], q, inverse);
    return b;
}

WEFT_FN Z2Point point_of(Z2Point b) {
    return b;
}

// The columns of G are (-1,-1,0,0) (1,-1,0,0) (0,1,-1,0) (0,0,1,-1).
WEFT_FN D4Point digits_of(D4Point n, float q, float inverse) {
    float tail = n.v[2] + n.v[3];
    D4Point b;
    b.v[0] = -0.5f * (n.v[0] + n.v[1] + tail);
    b.v[1] = 0.5f * (n.v[0] - n.v[1] - tail);
    b.v[2] = -tail;
    b.v[3] = -n.v[3];
    WEFT_UNROLL for (int i = 0; i < 4; ++i) b.v[i] = mod_digit(b.v[i], q, inverse);
    return b;
}

WEFT_FN D4Point point_of(D4Point b) {
    D4Point n;
    n.v[0] = b.v[1] - b.v[0];
    n.v[1] = b.v[2] - b.v[0] - b.v[1];
    n.v[2] = b.v[3] - b.v[2];
    n.v[3] = -b.v[3];
    return n;
}

// The columns of G are (2,0..), then for k = 2..7 the vector with -1 at k-1 and +1 at k (counted from 1),
// then (1/2)^8; n is doubled.
WEFT_FN E8Point digits_of(E8Point n, float q, float inverse) {
    float last = n.v[7], tail = 0.0f;
    E8Point b;
    b.v[7] = last;
    WEFT_UNROLL for (int k = 6; k >= 1; --k) {
        tail += n.v[k] - last;
        b.v[k] = 0.5f * tail;
    }
    b.v[0] = 0.25f * (tail + n.v[0] - last);
    WEFT_UNROLL for (int i = 0; i < 8; ++i) b.v[i] = mod_digit(b.v[i], q, inverse);
    return b;
}

WEFT_FN E8Point point_of(E8Point b) {
    E8Point n;
    n.v[0] = 4.0f * b.v[0] - 2.0f * b.v[1] + b.v[7];
    WEFT_UNROLL for (int k = 1; k < 6; ++k) n.v[k] = 2.0f * (b.v[k] - b.v[k + 1]) + b.v[7];
    n.v[6] = 2.0f * b.v[6] + b.v[7];
    n.v[7] = b.v[7];
    return n;
}

WEFT_SHARED_END

#endif
