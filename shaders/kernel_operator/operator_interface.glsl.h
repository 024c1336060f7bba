// SPDX-License-Identifier: Apache-2.0
// Types of the shaders of kernel operators. WEFT_REAL64 selects double arithmetic.
#include "shaders/kernel_matrix/kernel_interface.glsl.h"

#include "operator_parameters.h"

#if !defined(Real4)
#if defined(WEFT_REAL64)
#define Real4 dvec4
#else
#define Real4 vec4
#endif
#endif

WEFT_GPU Real real_of(uint low, uint high) {
#if defined(WEFT_REAL64)
    return packDouble2x32(uvec2(low, high));
#else
    return uintBitsToFloat(low);
#endif
}
