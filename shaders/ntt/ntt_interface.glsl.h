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
#elif WEFT_FIELD_WORDS == 1
WEFT_CONST int kRadixBits = 4;
#else
WEFT_CONST int kRadixBits = 3;
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
