// SPDX-License-Identifier: Apache-2.0
// The factors that normalise the kernel values of states: 1 / sqrt(max(norm^4 + jitter, 1e-12)), with a workgroup for
// each state.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "kernel_interface.glsl.h"

layout(local_size_x_id = 0) in;  // at most 128
layout(push_constant) uniform Push {
    uint count;
    uint first;
    KernelNormParameters p;
};
#if defined(WEFT_REAL64)
#define Real2 dvec2
#else
#define Real2 vec2
#endif
#if defined(WEFT_SQUARES)
layout(set = 0, binding = 0) readonly buffer Squares { Real squares[]; };
#else
layout(set = 0, binding = 0) readonly buffer States { Real2 states[]; };
#if defined(WEFT_REAL64)
layout(constant_id = 2) const bool kWidened = false;  // states are complex64
layout(set = 0, binding = 0) readonly buffer NarrowStates { vec2 narrow_states[]; };
#endif
#endif
layout(set = 0, binding = 1) writeonly buffer Factors { Real factors[]; };
#include "kernel_norms.glsl.h"
