// SPDX-License-Identifier: Apache-2.0
// Packs row-major states into the planes of shaders/gram/gram_layout.h: float, double (WEFT_REAL64) or float16
// (WEFT_MATRIX). A workgroup transposes 64 rows by 16 amplitudes in shared memory.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "gram_interface.h"
#include "gram_layout.h"

#if defined(WEFT_REAL64)
#define Real double
#define Complex dvec2
#else
#define Real float
#define Complex vec2
#endif

layout(local_size_x_id = 0) in;
layout(push_constant) uniform Push {
    uint count;
    uint first;
    GramPackParameters p;
};
layout(set = 0, binding = 0) readonly buffer States { Complex states[]; };
#if defined(WEFT_REAL64)
layout(constant_id = 1) const bool kWidened = false;  // states are complex64
layout(set = 0, binding = 0) readonly buffer NarrowStates { vec2 narrow_states[]; };
#endif
#if defined(WEFT_MATRIX)
layout(set = 0, binding = 1) writeonly buffer Planes { uint planes[]; };
#else
layout(set = 0, binding = 1) writeonly buffer Planes { Real planes[]; };
#endif
#include "gram_pack.glsl.h"
