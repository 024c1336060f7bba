// SPDX-License-Identifier: Apache-2.0
// The numbers of samples, laid out as operator_parameters.h says, from their features.
#version 450
#extension GL_GOOGLE_include_directive : require
#define WEFT_TURNS_BY_SHIFTS
#include "operator_interface.glsl.h"

layout(local_size_x_id = 0) in;
layout(push_constant) uniform Push {
    uint count;
    uint first;
    OperatorBlochParameters p;
};
layout(set = 0, binding = 0) readonly buffer Features { uint features[]; };
layout(set = 0, binding = 1) writeonly buffer Numbers { Real numbers[]; };
#include "operator_bloch.glsl.h"
