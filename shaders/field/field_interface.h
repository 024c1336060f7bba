// SPDX-License-Identifier: Apache-2.0
// The common interface of all field_*.comp. Two macros select the representation of an element:
//   WEFT_FIELD_WORDS   32-bit words of an element: 12, 8, 2 or 1
//   WEFT_LIMBS64       sums in 64-bit integers; without it no optional feature is used
// For each size of element, element-wise shaders process kEach elements in an invocation. Reductions process
// kShareEach elements at a time, and with kShareAhead they load the next ones at the same time
// (field_plan.cpp repeats the values of kShareEach). The values are the fastest on an H100.
//
// The constants of a field are specialization constants: one module serves all fields of its size, and
// drivers fold them like literals. src/ops_vulkan/field/field_programs.cpp sets them.
#ifndef WEFT_SHARED_FIELD_FORM_H
#define WEFT_SHARED_FIELD_FORM_H

#if defined(WEFT_LIMBS64)
#define WEFT_INT64
#endif

layout(constant_id = 1) const uint kP0 = 0u;
layout(constant_id = 2) const uint kP1 = 0u;
layout(constant_id = 3) const uint kP2 = 0u;
layout(constant_id = 4) const uint kP3 = 0u;
layout(constant_id = 5) const uint kP4 = 0u;
layout(constant_id = 6) const uint kP5 = 0u;
layout(constant_id = 7) const uint kP6 = 0u;
layout(constant_id = 8) const uint kP7 = 0u;
layout(constant_id = 9) const uint kP8 = 0u;
layout(constant_id = 10) const uint kP9 = 0u;
layout(constant_id = 11) const uint kP10 = 0u;
layout(constant_id = 12) const uint kP11 = 0u;
layout(constant_id = 13) const uint kN0 = 0u;      // -1 / p mod 2^32
layout(constant_id = 14) const uint kPasses = 1u;  // products for each element, all but the first by factor()
layout(constant_id = 20) const uint kFactor0 = 0u;
layout(constant_id = 21) const uint kFactor1 = 0u;
layout(constant_id = 22) const uint kFactor2 = 0u;
layout(constant_id = 23) const uint kFactor3 = 0u;
layout(constant_id = 24) const uint kFactor4 = 0u;
layout(constant_id = 25) const uint kFactor5 = 0u;
layout(constant_id = 26) const uint kFactor6 = 0u;
layout(constant_id = 27) const uint kFactor7 = 0u;
layout(constant_id = 28) const uint kFactor8 = 0u;
layout(constant_id = 29) const uint kFactor9 = 0u;
layout(constant_id = 30) const uint kFactor10 = 0u;
layout(constant_id = 31) const uint kFactor11 = 0u;

#if WEFT_FIELD_WORDS == 12
#define kParts 3
#include "field_12x32.h"
#define Element Limbs12x32
#define LIMBS32 limbs12x32
#define ElementPart uvec4
#define LOAD(array, i) limbs12x32(array[3 * (i)], array[3 * (i) + 1], array[3 * (i) + 2])
#define STORE(array, i, z) \
    array[3 * (i)] = part_of(z, 0), array[3 * (i) + 1] = part_of(z, 1), array[3 * (i) + 2] = part_of(z, 2)
#define kProducts kProducts12x32
#define kProductsTotal kProductsTotal12x32
#define PairColumns PairColumns14x28
#define Columns64 Columns14x28
#define Limbs64 Limbs6x64
#define limbs64 limbs6x64
#define kEach 1
#define EACH(STEP) STEP(0u)
#define kShareEach 2
#define kShareAhead 1
#define kBatch 32
Element modulus() {
    Element p = {{kP0, kP1, kP2, kP3, kP4, kP5, kP6, kP7, kP8, kP9, kP10, kP11}};
    return p;
}
Element factor() {
    Element f = {{kFactor0, kFactor1, kFactor2, kFactor3, kFactor4, kFactor5, kFactor6, kFactor7, kFactor8,
                  kFactor9, kFactor10, kFactor11}};
    return f;
}
#elif WEFT_FIELD_WORDS == 8
#define kParts 2
#include "field_8x32.h"
#define Element Limbs8x32
#define LIMBS32 limbs8x32
#define ElementPart uvec4
#define LOAD(array, i) limbs8x32(array[2 * (i)], array[2 * (i) + 1])
#define STORE(array, i, z) array[2 * (i)] = part_of(z, 0), array[2 * (i) + 1] = part_of(z, 1)
#define kProducts kProducts8x32
#define kProductsTotal kProductsTotal8x32
#define PairColumns PairColumns9x29
#define Columns64 Columns9x29
#define Limbs64 Limbs4x64
#define limbs64 limbs4x64
#define kEach 1
#define EACH(STEP) STEP(0u)
#define kShareEach 2
#define kShareAhead 0
#define kBatch 32
Element modulus() {
    Element p = {{kP0, kP1, kP2, kP3, kP4, kP5, kP6, kP7}};
    return p;
}
Element factor() {
    Element f = {{kFactor0, kFactor1, kFactor2, kFactor3, kFactor4, kFactor5, kFactor6, kFactor7}};
    return f;
}
#elif WEFT_FIELD_WORDS == 2
#define kParts 1
#include "field_2x32.h"
#define Element Limbs2x32
#define LIMBS32 limbs2x32
#define ElementPart uvec2
#define LOAD(array, i) limbs2x32(array[i])
#define STORE(array, i, z) array[i] = part_of(z, 0)
#define kProducts kProducts2x32
#define kProductsTotal kProductsTotal2x32
#define PairColumns PairColumns3x28
#define Columns64 Columns3x28
#define Limbs64 Limbs1x64
#define limbs64 limbs1x64
#define kEach 2
#define EACH(STEP) STEP(0u) STEP(1u)
#define kShareEach 4
#define kShareAhead 0
#define kBatch 32
Element modulus() {
    Element p = {{kP0, kP1}};
    return p;
}
Element factor() {
    Element f = {{kFactor0, kFactor1}};
    return f;
}
#elif WEFT_FIELD_WORDS == 1
#define kParts 1
#include "field_1x32.h"
#define Element Limbs1x32
#define ElementPart uint
#define LOAD(array, i) limbs1x32(array[i])
#define STORE(array, i, z) array[i] = part_of(z, 0)
#define kProducts kProducts1x32
#define kProductsTotal kProductsTotal1x32
#define PairColumns PairColumns1x32
#define kEach 4
#define EACH(STEP) STEP(0u) STEP(1u) STEP(2u) STEP(3u)
#define kShareEach 8
#define kShareAhead 0
#define kBatch 8
Element modulus() {
    Element p = {{kP0}};
    return p;
}
Element factor() {
    Element f = {{kFactor0}};
    return f;
}
#endif

// The value is always kN0, but compilers cannot know this. With a literal they would compute the next product
// in 64 bits, which costs two more instructions for each of the products that follow.
uint n0() {
    return kN0 * gl_NumWorkGroups.z;
}

#if defined(WEFT_LIMBS64) && WEFT_FIELD_WORDS > 1
#define Columns Columns64
#define column_total column_total_in_64
Element add_elements(Element x, Element y) {
    return LIMBS32(add_mod(limbs64(x), limbs64(y), limbs64(modulus())));
}
Element sub_elements(Element x, Element y) {
    return LIMBS32(sub_mod(limbs64(x), limbs64(y), limbs64(modulus())));
}
Element neg_element(Element x) {
    return LIMBS32(neg_mod(limbs64(x), limbs64(modulus())));
}
Element mul_elements(Element x, Element y) {
    return montgomery_in_64(x, y, modulus(), n0());
}
#else
#define Columns PairColumns
#define column_total column_total_in_pairs
Element add_elements(Element x, Element y) {
    return add_mod(x, y, modulus());
}
Element sub_elements(Element x, Element y) {
    return sub_mod(x, y, modulus());
}
Element neg_element(Element x) {
    return neg_mod(x, modulus());
}
Element mul_elements(Element x, Element y) {
    return montgomery_in_pairs(x, y, modulus(), n0());
}
#endif

// AT(k) is the index of the k-th element of an invocation whose first element is `first`. EACH(STEP) is
// STEP(k) for all of them, written out so that all loads come before the first store and no index is a
// variable.
#define AT(k) (first + (k)*gl_WorkGroupSize.x)

Element zero_element() {
    Element z;
    WEFT_UNROLL for (int i = 0; i < WEFT_FIELD_WORDS; ++i) z.limb[i] = 0u;
    return z;
}

bool is_zero(Element x) {
    uint any = 0u;
    WEFT_UNROLL for (int i = 0; i < WEFT_FIELD_WORDS; ++i) any |= x.limb[i];
    return any == 0u;
}

#endif
