// SPDX-License-Identifier: Apache-2.0
// Computes cosine and sine of scale times feature, or of half of it, in planes [qubit][cosine, sine][stride].
#version 450
#extension GL_GOOGLE_include_directive : require
#define WEFT_TURNS_BY_SHIFTS
#include "kernel_interface.glsl.h"

layout(local_size_x_id = 0) in;
layout(push_constant) uniform Push {
    uint count;
    uint first;
    KernelAngleParameters p;
};
layout(set = 0, binding = 0) readonly buffer Features { uint features[]; };
layout(set = 0, binding = 1) writeonly buffer Planes { Real planes[]; };
#include "kernel_angles.glsl.h"
