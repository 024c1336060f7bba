// SPDX-License-Identifier: Apache-2.0
// Adds partial sums to totals in fixed point, which several devices make of one product. An element is a value of the
// output: its total is a word of 64 bits.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "operator_interface.glsl.h"

#include "operator_total.h"

layout(local_size_x_id = 0) in;
layout(push_constant) uniform Push {
    uint count;
    uint first;
    OperatorTotalParameters p;
};
layout(set = 0, binding = 0) readonly buffer Terms { Real terms[]; };
layout(set = 0, binding = 1) readonly buffer Units { int units[]; };  // [column of V]
// [row][column of V], low half first; then a word that is not 0 if a term was none
layout(set = 0, binding = 2) buffer Totals { uint totals[]; };
#include "operator_total.glsl.h"
