// SPDX-License-Identifier: Apache-2.0
// Sine and cosine. GLSL's own functions have no stated error beyond a few turns and no version for double.
// These are polynomials fitted at the Chebyshev points of [0, pi/4]; arguments are reduced as turns. The
// absolute error is tested: below 1.2e-7 (float) and 3e-16 (double) for every finite argument. For |x| <=
// pi/4 the relative error of the sine is below 2 units in the last place, so small angles keep their
// accuracy.
#ifndef WEFT_SHARED_ENCODE_TRIG_H
#define WEFT_SHARED_ENCODE_TRIG_H

#include "encode_turns.h"

WEFT_SHARED_BEGIN

struct SinCos32 {
    float sine, cosine;
};

// For |x| <= pi/4.
WEFT_FN SinCos32 short_sincos32(float x) {
    WEFT_PRECISE float z = x * x;
    WEFT_PRECISE float s = -0.00019587825f * z + 0.008332748f;
    s = (s * z - 0.16666664f) * z;
    WEFT_PRECISE float c = 2.4547877e-05f * z - 0.0013888302f;
    c = (c * z + 0.041666664f) * (z * z);
    SinCos32 result;
    WEFT_PRECISE float sine = s * x + x;
    WEFT_PRECISE float cosine = (c - 0.5f * z) + 1.0f;
    result.sine = sine;
    result.cosine = cosine;
    return result;
}

// The values for an angle that is larger by `quarter` right angles.
WEFT_FN SinCos32 turn_quarters32(SinCos32 at, uint quarter) {
    SinCos32 result;
    result.sine = (quarter & 1u) != 0u ? at.cosine : at.sine;
    result.cosine = (quarter & 1u) != 0u ? at.sine : at.cosine;
    if ((quarter & 2u) != 0u) result.sine = -result.sine;
    if (((quarter + 1u) & 2u) != 0u) result.cosine = -result.cosine;
    return result;
}

// The values for `turn` / 2^32 of a turn.
WEFT_FN SinCos32 sincos_of_turn32(uint turn) {
    const uint quarter = (turn + 0x20000000u) >> 30;
    WEFT_PRECISE float x = float(int(turn - (quarter << 30))) * 1.4629181e-09f;
    return turn_quarters32(short_sincos32(x), quarter);
}

// The values for a sum of turns, rounded to 32 bits.
WEFT_FN SinCos32 sincos32_of_turns(Turns turns) {
    return sincos_of_turn32(turns.high + (turns.low >> 31));
}

#if defined(WEFT_FLOAT64)

struct SinCos64 {
    double sine, cosine;
};

WEFT_FN SinCos64 short_sincos64(double x) {
    WEFT_PRECISE double z = x * x;
    WEFT_PRECISE double s = WEFT_F64(0x3de5e0aeu, 0x5873e651u);  // 1.5918092905e-10
    s = s * z + WEFT_F64(0xbe5ae600u, 0xa711c40eu);              // -2.5051131340e-08
    s = s * z + WEFT_F64(0x3ec71de3u, 0x795fe529u);              // 2.7557316100e-06
    s = s * z + WEFT_F64(0xbf2a01a0u, 0x19e833f2u);              // -1.9841269837e-04
    s = s * z + WEFT_F64(0x3f811111u, 0x11110bb1u);              // 8.3333333333e-03
    s = (s * z + WEFT_F64(0xbfc55555u, 0x55555555u)) * z;        // -1.6666666667e-01
    WEFT_PRECISE double c = WEFT_F64(0xbda907d6u, 0xee97cd28u);  // -1.1382609660e-11
    c = c * z + WEFT_F64(0x3e21eeb6u, 0x8a05cf19u);              // 2.0876145952e-09
    c = c * z + WEFT_F64(0xbe927e4fu, 0xa17941a8u);              // -2.7557317270e-07
    c = c * z + WEFT_F64(0x3efa01a0u, 0x19f4e7a2u);              // 2.4801587299e-05
    c = c * z + WEFT_F64(0xbf56c16cu, 0x16c16966u);              // -1.3888888889e-03
    c = (c * z + WEFT_F64(0x3fa55555u, 0x55555555u)) * (z * z);  // 4.1666666667e-02
    SinCos64 result;
    WEFT_PRECISE double sine = s * x + x;
    WEFT_PRECISE double cosine = (c - WEFT_F64(0x3fe00000u, 0u) * z) + WEFT_F64(0x3ff00000u, 0u);
    result.sine = sine;
    result.cosine = cosine;
    return result;
}

WEFT_FN SinCos64 turn_quarters64(SinCos64 at, uint quarter) {
    SinCos64 result;
    result.sine = (quarter & 1u) != 0u ? at.cosine : at.sine;
    result.cosine = (quarter & 1u) != 0u ? at.sine : at.cosine;
    if ((quarter & 2u) != 0u) result.sine = -result.sine;
    if (((quarter + 1u) & 2u) != 0u) result.cosine = -result.cosine;
    return result;
}

WEFT_FN SinCos64 sincos64_of_turns(Turns turns) {
    const uint quarter = (turns.high + 0x20000000u) >> 30;
    const int rest = int(turns.high - (quarter << 30));
    WEFT_PRECISE double units = double(rest) * WEFT_F64(0x41f00000u, 0u) + double(turns.low);  // * 2^32
    WEFT_PRECISE double x = units * WEFT_F64(0x3c1921fbu, 0x54442d18u);                        // 2 pi / 2^64
    return turn_quarters64(short_sincos64(x), quarter);
}

#endif

WEFT_SHARED_END

#endif
