// SPDX-License-Identifier: Apache-2.0
// angle, phase and iqp-z: the factors of a qubit, and products of factors. Needs encode_interface.glsl.h, and
// kMethod and `p` from the shader. No include guard: read once for each kernel.

// The factors of qubit k for bit 0 and for bit 1 of the index.
WEFT_GPU void factors_of(Raw raw, uint k, WEFT_OUT(Complex) zero, WEFT_OUT(Complex) one) {
    const SinCos a = sincos_of(raw);
    if (kMethod == kEncodeAngle) {
        zero = complex(a.cosine, kZero);
        one = complex(a.sine, kZero);
    } else if (kMethod == kEncodePhase) {
        // 2^-n/2 is a factor of 1/2 in every second qubit, and of sqrt(1/2) in the last qubit of an odd
        // number.
        Real scale = (k & 1u) != 0u ? kHalf : kOne;
#if defined(WEFT_REAL64)
        if (k + 1u == p.qubits && (k & 1u) == 0u) scale = WEFT_F64(0x3fe6a09eu, 0x667f3bcdu);
#else
        if (k + 1u == p.qubits && (k & 1u) == 0u) scale = 0.70710678f;
#endif
        zero = complex(scale, kZero);
        one = complex(scale * a.cosine, scale * a.sine);
    } else {
        zero = complex(kHalf + kHalf * a.cosine, kHalf * a.sine);
        one = complex(kHalf - kHalf * a.cosine, -kHalf * a.sine);
    }
}

WEFT_GPU Complex both(Complex a, Complex b) {
    if (kMethod == kEncodeAngle) return complex(a.re * b.re, kZero);
    return multiply(a, b);
}
