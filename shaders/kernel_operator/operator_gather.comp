// SPDX-License-Identifier: Apache-2.0
// Sums over samples of features times V: a workgroup makes a tile of 32 x 32 features from the samples of a split, an
// invocation 4 x 4 of them. Sums are made over 64 samples, then over the split.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "operator_interface.glsl.h"

layout(local_size_x = 64) in;
layout(push_constant) uniform Push {
    uint count;
    uint first;
    OperatorFeatureParameters p;
};
layout(set = 0, binding = 0) readonly buffer Samples { Real samples[]; };
layout(set = 0, binding = 1) readonly buffer Values { Real v[]; };
layout(set = 0, binding = 2) writeonly buffer Sums { Real sums[]; };  // [split][high][low]
#include "operator_gather.glsl.h"
