// SPDX-License-Identifier: Apache-2.0
// The types of an encode_*.comp. With WEFT_REAL64 arithmetic is double, otherwise float, which needs no
// optional feature. With WEFT_IN64 the values of the input are doubles, otherwise floats; they are loaded as
// words, so arithmetic of either type can read either. Specialization constant 1: amplitudes are stored as
// complex128.
#if defined(WEFT_REAL64)
#define WEFT_FLOAT64
#endif
#include "encode_parameters.h"
#include "shaders/encode/circuit/encode_trig.h"

WEFT_CONSTANT(1, bool, kStoreWide, false);

#if defined(WEFT_IN64)
// The low word is in x.
#define Raw uvec2
WEFT_GPU uvec2 words_of(Raw raw) {
    return raw;
}
#else
#define Raw uint
WEFT_GPU uvec2 words_of(Raw raw) {
    return widen_float(raw);
}
#endif

// 0 for a finite value, else kEncodeNaN or kEncodeInfinite.
WEFT_GPU uint fault_of(Raw raw) {
    const uvec2 words = words_of(raw);
    if ((words.y & 0x7ff00000u) != 0x7ff00000u) return kEncodeGood;
    return (words.y & 0xfffffu) == 0u && words.x == 0u ? kEncodeInfinite : kEncodeNaN;
}

#if defined(WEFT_REAL64)

#define Real double
#define SinCos SinCos64
#define Phase Turns
#define kZero WEFT_F64(0u, 0u)
#define kHalf WEFT_F64(0x3fe00000u, 0u)
#define kOne WEFT_F64(0x3ff00000u, 0u)

WEFT_GPU Phase no_phase() {
    Turns turns;
    turns.high = 0u;
    turns.low = 0u;
    return turns;
}
WEFT_GPU Phase add_phases(Phase a, Phase b) {
    return add_turns(a, b);
}
WEFT_GPU Phase phase_of(Raw raw) {
    const uvec2 words = words_of(raw);
    return turns_of(words.y, words.x);
}
WEFT_GPU SinCos sincos_of_phase(Phase phase) {
    return sincos64_of_turns(phase);
}
WEFT_GPU SinCos sincos_of(Raw raw) {
#if defined(WEFT_IN64)
    const uvec2 words = raw;
#else
    const uvec2 words = widen_any_float(raw);
#endif
    if ((words.y & 0x7fffffffu) < 0x3fe921fbu) return short_sincos64(packDouble2x32(words));
    return sincos64_of_turns(turns_of(words.y, words.x));
}
// 2^-n for n below 64.
WEFT_GPU Real two_to_minus(uint n) {
    return WEFT_F64((1023u - n) << 20, 0u);
}

#else

#define Real float
#define SinCos SinCos32
#define Phase uint
#define kZero 0.0f
#define kHalf 0.5f
#define kOne 1.0f

WEFT_GPU Phase no_phase() {
    return 0u;
}
WEFT_GPU Phase add_phases(Phase a, Phase b) {
    return a + b;
}
WEFT_GPU Phase phase_of(Raw raw) {
    const uvec2 words = words_of(raw);
    const Turns turns = turns_of(words.y, words.x);
    return turns.high + (turns.low >> 31);
}
WEFT_GPU SinCos sincos_of_phase(Phase phase) {
    return sincos_of_turn32(phase);
}

// The float nearest to a finite double whose magnitude is below 1.
WEFT_GPU float narrow_short(uvec2 words) {
    const uint exponent = (words.y >> 20) & 0x7ffu;
    if (exponent < 897u) return 0.0f;
    const uint mantissa = ((words.y & 0xfffffu) << 3) | (words.x >> 29);
    const uint magnitude = (((exponent - 896u) << 23) | mantissa) + ((words.x >> 28) & 1u);
    return uintBitsToFloat((words.y & 0x80000000u) | magnitude);
}
WEFT_GPU SinCos sincos_of(Raw raw) {
    const uvec2 words = words_of(raw);
    if ((words.y & 0x7fffffffu) < 0x3fe921fbu) return short_sincos32(narrow_short(words));
    return sincos32_of_turns(turns_of(words.y, words.x));
}
WEFT_GPU Real two_to_minus(uint n) {
    return uintBitsToFloat((127u - n) << 23);
}

#endif

struct Complex {
    Real re, im;
};

WEFT_GPU Complex complex(Real re, Real im) {
    Complex z;
    z.re = re;
    z.im = im;
    return z;
}

WEFT_GPU Complex multiply(Complex a, Complex b) {
    WEFT_PRECISE Real re = a.re * b.re - a.im * b.im;
    WEFT_PRECISE Real im = a.re * b.im + a.im * b.re;
    return complex(re, im);
}

// The 16 bytes of a store: two amplitudes of complex64 or, with kStoreWide, only the first one as complex128.
WEFT_GPU uvec4 packed(Complex a, Complex b) {
#if defined(WEFT_REAL64)
    if (kStoreWide) return uvec4(unpackDouble2x32(a.re), unpackDouble2x32(a.im));
#endif
    return uvec4(floatBitsToUint(float(a.re)), floatBitsToUint(float(a.im)), floatBitsToUint(float(b.re)),
                 floatBitsToUint(float(b.im)));
}
