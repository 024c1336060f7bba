// SPDX-License-Identifier: Apache-2.0
// Norms that neither overflow nor underflow nor lose digits. Squares are summed with compensation. If the sum
// leaves the range in which this is exact enough, the careful way scales the values by a power of two first.
// Needs encode_interface.glsl.h and `Raw value_at(uint i)` from the shader.

// A sum of squares of values scaled by 2^-exponent; `fault` as in encode_parameters.h.
struct Norm {
    Real sum, rest;  // the value is sum + rest
    int exponent;    // kPlain: the values are not scaled
    uint fault, position;
};
WEFT_CONST int kPlain = -100000;

// Adds a number to a sum in two parts without error (two-sum).
WEFT_GPU void add_to(WEFT_INOUT(Real) sum, WEFT_INOUT(Real) rest, Real more) {
    WEFT_PRECISE Real total = sum + more;
    WEFT_PRECISE Real part = total - sum;
    WEFT_PRECISE Real error = (sum - (total - part)) + (more - part);
    sum = total;
    WEFT_PRECISE Real left = rest + error;
    rest = left;
}

WEFT_GPU void add_square(WEFT_INOUT(Real) sum, WEFT_INOUT(Real) rest, Real value) {
    WEFT_PRECISE Real square = value * value;
    add_to(sum, rest, square);
}

#if defined(WEFT_REAL64)

// Between these bounds, squares that underflow, and sums of them, are too small to matter.
WEFT_GPU bool sums_exactly(Real sum) {
    return sum >= WEFT_F64(0x07b00000u, 0u) && sum <= WEFT_F64(0x7b000000u, 0u);
}

// The value times 2^-exponent, or 0 if this is below 2^-1022. With the exponent of the largest value, all
// results are below 2.
WEFT_GPU Real scaled(Raw raw, int exponent) {
    uvec2 words;
    int shift = exponent;
#if defined(WEFT_IN64)
    words = raw;
    if ((words.y & 0x7ff00000u) == 0u) {
        words = unpackDouble2x32(double(raw.y & 0xfffffu) * WEFT_F64(0x41f00000u, 0u) + double(raw.x));
        shift += 1074;
    }
#else
    words = widen_float(raw);
    if ((raw & 0x7f800000u) == 0u) {
        words = unpackDouble2x32(double(raw & 0x7fffffu));
        shift += 149;
    }
#endif
    const int wanted = int((words.y >> 20) & 0x7ffu) - shift;
    if ((words.y & 0x7ff00000u) == 0u || wanted <= 0) return kZero;
    words.y = (words.y & 0xfffffu) | (uint(wanted) << 20);
#if defined(WEFT_IN64)
    words.y |= raw.y & 0x80000000u;
#else
    words.y |= raw & 0x80000000u;
#endif
    return packDouble2x32(words);
}
#if defined(WEFT_IN64)
WEFT_GPU Real plain(Raw raw) {
    return packDouble2x32(raw);
}
#else
WEFT_GPU Real plain(Raw raw) {
    return double(uintBitsToFloat(raw));
}
#endif

#else

WEFT_GPU bool sums_exactly(Real sum) {
    return sum >= 8.6736174e-19f && sum <= 1.2676506e30f;
}  // 2^-60, 2^100

WEFT_GPU Real scaled(Raw raw, int exponent) {
#if defined(WEFT_IN64)
    uint magnitude, sign = raw.y & 0x80000000u;
    int wanted;
    if ((raw.y & 0x7ff00000u) == 0u) {
        magnitude = floatBitsToUint(float(raw.y & 0xfffffu) * 4294967296.0f + float(raw.x));
        wanted = int(magnitude >> 23) - 1074 - exponent;
        if (magnitude == 0u) return 0.0f;
    } else {
        // Rounding up may carry into the exponent, which gives the right result.
        magnitude = (((raw.y & 0xfffffu) << 3) | (raw.x >> 29)) + ((raw.x >> 28) & 1u);
        wanted = int((raw.y >> 20) & 0x7ffu) - 896 - exponent + int(magnitude >> 23);
    }
#else
    uint magnitude = raw & 0x7fffffffu, sign = raw & 0x80000000u;
    int shift = exponent;
    if (magnitude < 0x800000u) {
        magnitude = floatBitsToUint(float(magnitude));
        shift += 149;
        if (magnitude == 0u) return 0.0f;
    }
    const int wanted = int(magnitude >> 23) - shift;
#endif
    if (wanted <= 0) return 0.0f;
    if (wanted >= 255) return uintBitsToFloat(sign | 0x7f800000u);
    return uintBitsToFloat(sign | (uint(wanted) << 23) | (magnitude & 0x7fffffu));
}
#if defined(WEFT_IN64)
WEFT_GPU Real plain(Raw raw) {
    return fault_of(raw) != kEncodeGood ? uintBitsToFloat(0x7fc00000u) : scaled(raw, 0);
}
#else
WEFT_GPU Real plain(Raw raw) {
    return uintBitsToFloat(raw);
}
#endif

#endif

WEFT_GPU Real value_of(Raw raw, int exponent) {
    return exponent == kPlain ? plain(raw) : scaled(raw, exponent);
}

// The exponent of the largest of the values; `high` and `low` are the largest words of their magnitudes.
WEFT_GPU int exponent_of(uint high, uint low) {
#if defined(WEFT_IN64)
    if (high >= 0x100000u) return int(high >> 20) - 1023;
    return high != 0u ? findMSB(high) - 1042 : findMSB(low) - 1074;
#else
    return high >= 0x800000u ? int(high >> 23) - 127 : findMSB(high) - 149;
#endif
}

// What the careful way finds in a first reading: the largest words of magnitudes, and the first bad value.
struct Extremes {
    uint high, low, first_bad;
};
WEFT_CONST uint kNoneBad = 0xffffffffu;

WEFT_GPU Extremes no_extremes() {
    Extremes found;
    found.high = 0u;
    found.low = 0u;
    found.first_bad = kNoneBad;
    return found;
}

WEFT_GPU void note_value(WEFT_INOUT(Extremes) found, Raw raw, uint i) {
    if (fault_of(raw) != kEncodeGood) found.first_bad = min(found.first_bad, i);
#if defined(WEFT_IN64)
    found.high = max(found.high, raw.y & 0x7fffffffu);
    found.low = max(found.low, raw.x);
#else
    found.high = max(found.high, raw & 0x7fffffffu);
#endif
}

// The norm of a row with these extremes, before its squares are summed.
WEFT_GPU Norm unsummed_norm(Extremes found) {
    Norm norm;
    norm.fault = kEncodeGood;
    norm.position = 0u;
    norm.exponent = kPlain;
    norm.sum = kZero;
    norm.rest = kZero;
    if (found.first_bad != kNoneBad) {
        norm.fault = fault_of(value_at(found.first_bad));
        norm.position = found.first_bad;
    } else if (found.high == 0u && found.low == 0u) {
        norm.fault = kEncodeZeroNorm;
    } else {
        norm.exponent = exponent_of(found.high, found.low);
    }
    return norm;
}

// 1 / sqrt(sum + rest) by a step of Newton's method: it is right to the last place or two even if the
// device's inversesqrt is right to half of the places only. Sums are within the range of sums_exactly or come
// from scaled values, so nothing overflows.
WEFT_GPU Real inverse_root(Real sum, Real rest) {
    WEFT_PRECISE Real total = sum + rest;
    WEFT_PRECISE Real inverse = inversesqrt(total);
    WEFT_PRECISE Real missing = kOne - total * (inverse * inverse);
    WEFT_PRECISE Real result = inverse + inverse * (kHalf * missing);
    return result;
}
