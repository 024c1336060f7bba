// SPDX-License-Identifier: Apache-2.0
// A tile of |X Y^H|^2 from packed planes of float, or of double (WEFT_REAL64). There are kRowThreads by kColumnThreads
// invocations, each with kRows by 4 complex sums in registers.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "gram_interface.h"
#include "gram_layout.h"

#if defined(WEFT_REAL64)
#define Real double
#define Real4 dvec4
const uint kRows = 4u;
#else
#define Real float
#define Real4 vec4
const uint kRows = 8u;
#endif
#if defined(WEFT_3M)
const uint kHeld = 3u, kSums = 3u;  // planes in shared memory, real sums
#else
const uint kHeld = 2u, kSums = 2u;
#endif

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint kRowThreads = 8;
layout(constant_id = 2) const uint kColumnThreads = 16;
layout(constant_id = 3) const bool kWide = false;
layout(constant_id = 4) const uint kFlushBlocks = 32;
layout(constant_id = 5) const uint kParts = 1;
layout(constant_id = 6) const uint kStages = 2;

layout(push_constant) uniform Push {
    uint count;
    uint first;
    GramParameters p;
};
layout(set = 0, binding = 0) readonly buffer X { Real4 x[]; };
layout(set = 0, binding = 1) readonly buffer Y { Real4 y[]; };
layout(set = 0, binding = 4) writeonly buffer Parts { Real4 parts[]; };
#include "gram_factors.h"
#include "gram_output.h"
#include "gram_store.glsl.h"
#include "gram_tile.glsl.h"
