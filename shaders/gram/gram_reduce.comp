// SPDX-License-Identifier: Apache-2.0
// Adds the parts of sums that gram_tile.comp stored, and stores the squared moduli.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "gram_interface.h"
#include "gram_layout.h"

#if defined(WEFT_REAL64)
#define Real double
#else
#define Real float
#endif

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint kTileRows = 64;
layout(constant_id = 2) const uint kTileColumns = 64;
layout(constant_id = 3) const bool kWide = false;

layout(push_constant) uniform Push {
    uint count;
    uint first;
    GramReduceParameters r;
};
#define p r.p
layout(set = 0, binding = 0) readonly buffer Parts { Real parts[]; };
#include "gram_factors.h"
#include "gram_output.h"
#include "gram_reduce.glsl.h"
