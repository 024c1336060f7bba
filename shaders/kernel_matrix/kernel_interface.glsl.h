// SPDX-License-Identifier: Apache-2.0
// Sine and cosine of the angles of kernel matrices. The types are those of encode_interface.glsl.h:
// WEFT_REAL64 selects double arithmetic.
#define WEFT_IN64  // angles are doubles whatever the features were
#include "shaders/encode/encode_interface.glsl.h"

#include "kernel_angle.h"
#include "kernel_parameters.h"

#if defined(WEFT_REAL64)
#define kNotANumber WEFT_F64(0x7ff80000u, 0u)
#else
#define kNotANumber uintBitsToFloat(0x7fc00000u)
#endif

// The result is NaN for an angle that is not finite, so that every kernel value of its sample becomes NaN.
WEFT_GPU SinCos sincos_of_angle(uvec2 angle) {
    if (double_exponent(angle) == 2047u) {
        SinCos none;
        none.sine = kNotANumber;
        none.cosine = kNotANumber;
        return none;
    }
    return sincos_of(angle);
}
