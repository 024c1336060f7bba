// SPDX-License-Identifier: Apache-2.0
// Codes of base 4 with one or two levels. With lattice_points.h, a GPU's arithmetic and not its memory would
// limit their speed. Here, from the first quantization on, the coordinates of a point are bytes of a word and
// are processed together. The results are those of lattice_points.h, bit for bit.
//
// A level maps n to Q(n / 4), and digits depend only on n modulo 4^levels times the lattice, so a byte has
// room for both levels. Coordinates are right modulo 128, 32 and 8 before the first, second and third level
// (E8, whose points are doubled: 256, 64, 16). Half of this modulus is added to them, so that bytes are not
// negative; it changes no digit. No sum of bytes below overflows its byte.
//
//   nearest_bytes(g)  the point nearest to g, as nearest(g, 1, 1, kLatticeNudge), plus half the modulus
//   quarter(n)        Q(n / 4), and the remainder n - 4 Q(n / 4) plus 4 (doubled: 8), so never negative
//   digits_of(n)      (G^-1 n) mod 4, digit i in bits 2 i
//   bytes_of_digits   G b modulo 8 (doubled: 16), with the offset that quarter() needs for its remainder
//   sum_of_bytes      coordinates minus `bias`, as floats
#ifndef WEFT_SHARED_LATTICE_BASE4_H
#define WEFT_SHARED_LATTICE_BASE4_H

#include "lattice_points.h"

WEFT_SHARED_BEGIN

const uint kLatticeOnes = 0x01010101u;

// Z2 uses the low half of the word. lattice_base4_e8.h has the same functions for E8.
struct Z2Bytes {
    uint v[1];
};
struct D4Bytes {
    uint v[1];
};

struct Z2Quarter {
    Z2Bytes next, left;
};
struct D4Quarter {
    D4Bytes next, left;
};

WEFT_FN uint byte_sum(uint bytes) {
    return (bytes * kLatticeOnes) >> 24;
}

// The lowest bit of a mask.
WEFT_FN uint first_of(uint mask) {
    return mask & (~mask + 1u);
}

// Byte `at` minus a number, without a conversion.
WEFT_FN float byte_value(uint bytes, uint at, float less) {
    uint bits = 0x4b000000u | ((bytes >> (8u * at)) & 0xffu);  // 2^23 + byte
    return uintBitsToFloat(bits) - (8388608.0f + less);
}

WEFT_FN float floor_of(float x) {
    WEFT_PRECISE float below = floor(x + kLatticeNudge);
    return below;
}

// x minus the middle between the integers `below` and below + 1; never -0.
WEFT_FN float centred_on(float x, float below) {
    WEFT_PRECISE float centred = x - (below + 0.5f);
    return centred;
}

// The sign bits of four floats as bytes 0 or 1.
WEFT_FN uint signs_of(float a, float b, float c, float d) {
    uint low = (floatBitsToUint(a) >> 31) | ((floatBitsToUint(b) >> 31) << 8);
    return low | ((floatBitsToUint(c) >> 31) << 16) | ((floatBitsToUint(d) >> 31) << 24);
}

// The bytes of four integers plus `bias`, which must be 0 to 255. The bits of the second pair's float are
// added to the upper half, where the first pair's float already has its exponent, 0x4b40; so kExponent is
// subtracted.
WEFT_FN uint bytes_of(float a, float b, float c, float d, float bias) {
    const float kZero = 12582912.0f, kExponent = 19264.0f;
    WEFT_PRECISE float low = a + (kZero + 257.0f * bias);
    WEFT_PRECISE float high = c + (kZero - kExponent + 257.0f * bias);
    return floatBitsToUint(256.0f * b + low) + (floatBitsToUint(256.0f * d + high) << 16);
}

// --- Z2

WEFT_FN Z2Bytes nearest_bytes(Z2Point x) {
    Z2Point n = nearest(x, 1.0f, 1.0f, kLatticeNudge);
    Z2Bytes bytes;
    bytes.v[0] = bytes_of(n.v[0], n.v[1], 0.0f, 0.0f, 64.0f) & 0x7f7fu;
    return bytes;
}

WEFT_FN Z2Quarter quarter(Z2Bytes n) {
    uint ups = (n.v[0] >> 1) & 0x0101u;
    Z2Quarter result;
    result.next.v[0] = ((n.v[0] >> 2) & 0x3f3fu) + ups;
    result.left.v[0] = (n.v[0] & 0x0303u) + 0x0404u - 4u * ups;
    return result;
}

WEFT_FN uint digits_of(Z2Bytes n) {
    return (n.v[0] & 3u) | ((n.v[0] >> 6) & 12u);
}

WEFT_FN Z2Bytes bytes_of_digits(uint digits, Z2Bytes shape) {
    shape.v[0] = (digits & 3u) | ((digits & 12u) << 6);
    return shape;
}

// --- D4

WEFT_FN D4Bytes nearest_bytes(D4Point x) {
    float below[4], centred[4];
    WEFT_UNROLL for (int i = 0; i < 4; ++i) {
        below[i] = floor_of(x.v[i]);
        centred[i] = centred_on(x.v[i], below[i]);
    }
    // Finds the largest residual, the first one of equals.
    bool second = abs(centred[1]) < abs(centred[0]), fourth = abs(centred[3]) < abs(centred[2]);
    float early = min(abs(centred[0]), abs(centred[1])), late = min(abs(centred[2]), abs(centred[3]));
    uint early_bit = second ? 0x100u : 1u, late_bit = fourth ? 0x1000000u : 0x10000u;
    uint bit = late < early ? late_bit : early_bit;

    uint floors = bytes_of(below[0], below[1], below[2], below[3], 64.0f);
    uint ups = signs_of(centred[0], centred[1], centred[2], centred[3]) ^ kLatticeOnes;
    uint odd = byte_sum((floors ^ ups) & kLatticeOnes) & 1u;
    D4Bytes n;
    n.v[0] = floors + (ups ^ (odd != 0u ? bit : 0u));
    return n;
}

WEFT_FN D4Quarter quarter(D4Bytes n) {
    // n mod 4:  0   1   2   3
    // residual  0   1  -2  -1
    uint half_n = n.v[0] >> 1;
    uint ups = half_n & kLatticeOnes;
    uint odd = byte_sum(((n.v[0] >> 2) ^ half_n) & kLatticeOnes) & 1u;
    uint twos = ups & ~n.v[0], ones = n.v[0] & kLatticeOnes;
    uint smaller = ones != 0u ? ones : kLatticeOnes;
    uint bit = first_of(twos != 0u ? twos : smaller);
    uint rise = ups ^ (odd != 0u ? bit : 0u);
    D4Quarter result;
    result.next.v[0] = ((n.v[0] >> 2) & 0x3f3f3f3fu) + rise;
    result.left.v[0] = (n.v[0] & 0x03030303u) + 0x04040404u - 4u * rise;
    return result;
}

WEFT_FN uint digits_of(D4Bytes n) {
    // Byte i is the sum of coordinates 0 to i.
    uint sums = (n.v[0] & 0x07070707u) * kLatticeOnes;
    uint all = sums >> 24, half_all = sums >> 25;
    uint b = ((sums << 8) + 0x20202020u - half_all * 0x0101u - all * 0x01010000u) & 0x03030303u;
    b = (b | (b >> 6)) & 0x000f000fu;
    return (b | (b >> 12)) & 0xffu;
}

WEFT_FN D4Bytes bytes_of_digits(uint digits, D4Bytes shape) {
    uint b = digits & 0xffu;
    b = (b | (b << 12)) & 0x000f000fu;
    b = (b | (b << 6)) & 0x03030303u;
    shape.v[0] = (b >> 8) + 0x08080808u - b - ((b & 3u) << 8);
    return shape;
}

// --- conversion back to floats

WEFT_FN Z2Point sum_of_bytes(Z2Bytes n, float bias) {
    Z2Point x;
    WEFT_UNROLL for (int i = 0; i < 2; ++i) x.v[i] = byte_value(n.v[0], uint(i), bias);
    return x;
}

WEFT_FN D4Point sum_of_bytes(D4Bytes n, float bias) {
    D4Point x;
    WEFT_UNROLL for (int i = 0; i < 4; ++i) x.v[i] = byte_value(n.v[0], uint(i), bias);
    return x;
}

WEFT_SHARED_END

#endif
