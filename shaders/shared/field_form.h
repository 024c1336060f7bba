// SPDX-License-Identifier: Apache-2.0
// The limb form that a field_*.comp works in: built plainly it uses 32-bit limbs and no optional feature,
// with WEFT_LIMBS64 defined 64-bit limbs and shaderInt64.
#ifndef WEFT_SHARED_FIELD_FORM_H
#define WEFT_SHARED_FIELD_FORM_H

#if defined(WEFT_LIMBS64)
#define WEFT_INT64
#include "field_bls12_381_fp.h"
#define Fp Limbs6x64
#define fp_load limbs6x64
#define fp_modulus bls12_381_fp_modulus64
#else
#include "field_bls12_381_fp.h"
#define Fp Limbs12x32
#define fp_load limbs12x32
#define fp_modulus bls12_381_fp_modulus32
#endif

#endif
