// SPDX-License-Identifier: Apache-2.0
// The interface of fields, and the arithmetic of transforms on it.
#include "shaders/field/field_interface.h"

#define WEFT_REVERSE_WORD bitfieldReverse
#include "ntt_arithmetic.h"
#include "ntt_parameters.h"

// With more bits, elements of several words would take so many registers that few invocations run
// simultaneously.
#if defined(WEFT_NTT_COMPACT)
WEFT_CONST int kRadixBits = 2;
#elif WEFT_FIELD_WORDS <= 2
WEFT_CONST int kRadixBits = 4;
#else
WEFT_CONST int kRadixBits = 3;
#endif

#if defined(WEFT_NTT_KEPT) && WEFT_FIELD_WORDS == 1
// Powers 1 to 7 of the root of order 16, and 2^32 / p times these.
layout(constant_id = 44) const uint kTurn1 = 0u;
layout(constant_id = 45) const uint kTurn2 = 0u;
layout(constant_id = 46) const uint kTurn3 = 0u;
layout(constant_id = 47) const uint kTurn4 = 0u;
layout(constant_id = 48) const uint kTurn5 = 0u;
layout(constant_id = 49) const uint kTurn6 = 0u;
layout(constant_id = 50) const uint kTurn7 = 0u;
layout(constant_id = 51) const uint kQuotient1 = 0u;
layout(constant_id = 52) const uint kQuotient2 = 0u;
layout(constant_id = 53) const uint kQuotient3 = 0u;
layout(constant_id = 54) const uint kQuotient4 = 0u;
layout(constant_id = 55) const uint kQuotient5 = 0u;
layout(constant_id = 56) const uint kQuotient6 = 0u;
layout(constant_id = 57) const uint kQuotient7 = 0u;

Element turned(Element x, uint i) {
    const uint turn = i == 1u   ? kTurn1
                      : i == 2u ? kTurn2
                      : i == 3u ? kTurn3
                      : i == 4u ? kTurn4
                      : i == 5u ? kTurn5
                      : i == 6u ? kTurn6
                                : kTurn7;
    const uint quotient = i == 1u   ? kQuotient1
                          : i == 2u ? kQuotient2
                          : i == 3u ? kQuotient3
                          : i == 4u ? kQuotient4
                          : i == 5u ? kQuotient5
                          : i == 6u ? kQuotient6
                                    : kQuotient7;
    return lean_scale(x, turn, quotient, modulus());
}
#define kept_turn(x, level, power) turned(x, uint((power) << (3 - (level))))
// A factor and 2^32 / p times it.
#define kept_quick(a, q) lean_scale(a, (q).x, (q).y, modulus())

#elif defined(WEFT_NTT_KEPT) && WEFT_FIELD_WORDS == 2
// The root of order 16 is 2^(12 kRoot16).
layout(constant_id = 44) const uint kRoot16 = 1u;
#define Kept SpreadGoldilocks
#define kept_of spread_of
#define kept_sum spread_add
#define kept_difference spread_sub
#define kept_turn(x, level, power) spread_turn(x, (uint((power) << (3 - (level))) * kRoot16) & 15u)
#define kept_product(x, y) wide_mul(wide_of(x), y)
#define kept_settled(x) settled(wide_of(x))
#define canonical_of goldilocks_canonical
#define pass_product goldilocks_lazy_mul
#endif

#if WEFT_FIELD_WORDS == 1

Element sum_of(Element x, Element y) {
    return lean_add(x, y, modulus());
}
Element difference_of(Element x, Element y) {
    return lean_sub(x, y, modulus());
}
Element product_of(Element x, Element y) {
    return lean_mul(x, y, modulus(), kN0);
}

#elif WEFT_FIELD_WORDS == 2 && defined(WEFT_LIMBS64)

Element sum_of(Element x, Element y) {
    return goldilocks_add(x, y);
}
Element difference_of(Element x, Element y) {
    return goldilocks_sub(x, y);
}
Element product_of(Element x, Element y) {
    return goldilocks_mul(x, y);
}

#else

Element sum_of(Element x, Element y) {
    return add_elements(x, y);
}
Element difference_of(Element x, Element y) {
    return sub_elements(x, y);
}
Element product_of(Element x, Element y) {
    return mul_elements(x, y);
}

#endif
