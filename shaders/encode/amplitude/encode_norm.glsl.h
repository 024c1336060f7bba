// SPDX-License-Identifier: Apache-2.0
// Norms that neither overflow nor underflow nor lose digits. Squares are summed with compensation. If the sum
// leaves the range in which this is exact enough, the careful way scales the values by a power of two first.
// Needs encode_interface.glsl.h and `Raw value_at(uint i)` from the shader. kTeam, a power of two, is the
// number of invocations that share a row; by default it is the workgroup. A sum of squares of values scaled
// by 2^-exponent; `fault` as in encode_parameters.h.
struct Norm {
    Real sum, rest;  // the value is sum + rest
    int exponent;    // kPlain: the values are not scaled
    uint fault, position;
};
WEFT_CONST int kPlain = -100000;

#if !defined(kTeam)
#define kTeam WEFT_GROUP_SIZE
#endif
WEFT_GROUP(Real, norm_sum, WEFT_GROUP_SIZE);
WEFT_GROUP(Real, norm_rest, WEFT_GROUP_SIZE);
WEFT_GROUP(uint, norm_word, WEFT_GROUP_SIZE);

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

WEFT_GPU uint team_member() {
    return gl_LocalInvocationIndex & (kTeam - 1u);
}

// Adds up the sums of a team's first `parts` invocations, a power of two. The result is in norm_sum and
// norm_rest of the team's first invocation, which may read it immediately; the others need a barrier before.
WEFT_GPU void gather_parts(Real sum, Real rest, uint parts) {
    const uint lane = gl_LocalInvocationIndex, member = team_member();
    norm_sum[lane] = sum;
    norm_rest[lane] = rest;
    while (parts > 1u) {
        const uint ways = parts >= 4u ? 4u : 2u;
        parts /= ways;
        barrier();
        if (member < parts) {
            Real total = norm_sum[lane], left = norm_rest[lane];
            for (uint k = 1u; k < ways; ++k) {
                left += norm_rest[lane + k * parts];
                add_to(total, left, norm_sum[lane + k * parts]);
            }
            norm_sum[lane] = total;
            norm_rest[lane] = left;
        }
    }
}

WEFT_GPU void gather_sums(Real sum, Real rest) {
    gather_parts(sum, rest, kTeam);
}

// Adds up the sums of all invocations of a team; all of them get the result.
WEFT_GPU void reduce_sum(WEFT_INOUT(Real) sum, WEFT_INOUT(Real) rest) {
    gather_sums(sum, rest);
    barrier();
    const uint first_of_team = gl_LocalInvocationIndex - team_member();
    sum = norm_sum[first_of_team];
    rest = norm_rest[first_of_team];
    barrier();
}

WEFT_GPU uint reduce_max(uint word) {
    const uint lane = gl_LocalInvocationIndex, member = team_member();
    norm_word[lane] = word;
    for (uint half_size = kTeam / 2; half_size > 0; half_size /= 2) {
        barrier();
        if (member < half_size) norm_word[lane] = max(norm_word[lane], norm_word[lane + half_size]);
    }
    barrier();
    const uint result = norm_word[lane - member];
    barrier();
    return result;
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

// The careful way, for values value_at(0) to value_at(length - 1) whose plain sum is out of range.
WEFT_GPU Norm norm_with_care(uint length) {
    Norm norm;
    norm.fault = kEncodeGood;
    norm.position = 0u;
    norm.exponent = kPlain;
    norm.sum = kZero;
    norm.rest = kZero;
    uint high = 0u, low = 0u, first_bad = 0xffffffffu;
    for (uint i = team_member(); i < length; i += kTeam) {
        const Raw raw = value_at(i);
        if (fault_of(raw) != kEncodeGood) first_bad = min(first_bad, i);
#if defined(WEFT_IN64)
        high = max(high, raw.y & 0x7fffffffu);
        low = max(low, raw.x);
#else
        high = max(high, raw & 0x7fffffffu);
#endif
    }
    first_bad = ~reduce_max(~first_bad);
    high = reduce_max(high);
    low = reduce_max(low);
    if (first_bad != 0xffffffffu) {
        norm.fault = fault_of(value_at(first_bad));
        norm.position = first_bad;
    } else if (high == 0u && low == 0u) {
        norm.fault = kEncodeZeroNorm;
    } else {
        norm.exponent = exponent_of(high, low);
    }
    // No early return: all teams of a workgroup must reach the same barriers, whatever their rows hold.
    const uint summed = norm.fault == kEncodeGood ? length : 0u;
    for (uint i = team_member(); i < summed; i += kTeam)
        add_square(norm.sum, norm.rest, scaled(value_at(i), norm.exponent));
    reduce_sum(norm.sum, norm.rest);
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
