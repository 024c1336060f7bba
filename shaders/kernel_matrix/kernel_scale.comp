// SPDX-License-Identifier: Apache-2.0
// Normalises a block of K: every value times the factors of its row and of its column; 1 on the diagonal.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "kernel_interface.glsl.h"

layout(local_size_x = 128) in;
layout(constant_id = 2) const bool kWideValues = false;  // K is float64
layout(push_constant) uniform Push {
    uint count;
    uint first;
    KernelScaleParameters p;
};
layout(set = 0, binding = 0) readonly buffer Factors { uint factors[]; };
layout(set = 0, binding = 1) buffer Values { uint values[]; };
#include "kernel_scale.glsl.h"
