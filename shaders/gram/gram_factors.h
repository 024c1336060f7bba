// SPDX-License-Identifier: Apache-2.0
// The factors of rows, whose products scale the values of K. Needs Real. GLSL only.
#ifndef WEFT_SHARED_GRAM_FACTORS_H
#define WEFT_SHARED_GRAM_FACTORS_H

layout(constant_id = 9) const bool kScaled = false;
layout(set = 0, binding = 5) readonly buffer Factors {
    Real factors[];
};

#endif
