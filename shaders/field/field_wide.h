// SPDX-License-Identifier: Apache-2.0
// Sums of products of 32-bit numbers, below 2^64. They are kept in a pair of 32-bit numbers, which needs no
// optional feature, or, with WEFT_INT64, in a uint64_t. For the latter, drivers use one instruction for each
// product, multiply-and-add, where the device has it.
#ifndef WEFT_SHARED_FIELD_WIDE_H
#define WEFT_SHARED_FIELD_WIDE_H

#include "shaders/shared/portable.h"

// The loop over the steps of a product. It is not unrolled in shaders with several products, where small code
// matters more.
#if defined(WEFT_FIELD_ROLLED)
#define FIELD_STEPS WEFT_ROLL
#else
#define FIELD_STEPS WEFT_UNROLL
#endif

WEFT_SHARED_BEGIN

struct WidePair {
    uint low, high;
};

WEFT_FN void wide_set(WEFT_OUT(WidePair) w, uint value) {
    w.low = value;
    w.high = 0u;
}
WEFT_FN uint wide_low(WidePair w) {
    return w.low;
}
/// w + a * b
WEFT_FN WidePair wide_mad(WidePair w, uint a, uint b) {
    WidePair sum;
    uint high, low, carry;
    umulExtended(a, b, high, low);
    sum.low = uaddCarry(w.low, low, carry);
    sum.high = w.high + high + carry;
    return sum;
}
WEFT_FN WidePair wide_add(WidePair a, WidePair b) {
    WidePair sum;
    uint carry;
    sum.low = uaddCarry(a.low, b.low, carry);
    sum.high = a.high + b.high + carry;
    return sum;
}
/// w / 2^bits for 0 < bits < 32
WEFT_FN WidePair wide_shift(WidePair w, int bits) {
    WidePair shifted;
    shifted.low = (w.low >> bits) | (w.high << (32 - bits));
    shifted.high = w.high >> bits;
    return shifted;
}

#if defined(WEFT_INT64)
WEFT_FN void wide_set(WEFT_OUT(uint64_t) w, uint value) {
    w = uint64_t(value);
}
WEFT_FN uint wide_low(uint64_t w) {
    return uint(w);
}
WEFT_FN uint64_t wide_mad(uint64_t w, uint a, uint b) {
    return w + uint64_t(a) * uint64_t(b);
}
WEFT_FN uint64_t wide_add(uint64_t a, uint64_t b) {
    return a + b;
}
WEFT_FN uint64_t wide_shift(uint64_t w, int bits) {
    return w >> bits;
}
#endif

WEFT_SHARED_END

#endif
