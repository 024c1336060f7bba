// SPDX-License-Identifier: Apache-2.0
// Adds the parts of sums that gram_tile.comp left, and stores the squared moduli.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shared/gram_form.h"
#include "shared/gram_layout.h"

#if defined(WEFT_WORK64)
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
#include "shared/gram_store.h"

void main() {
    const uint i =
        (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    const uint size = kTileRows * kTileColumns, index = i / size, at = i % size;
    if (i >= count) return;
    const uvec2 tile = gram_tile(index, p.across, kTileRows / kTileColumns);
    Real re = Real(0.0), im = Real(0.0);
    for (uint part = 0u; part < r.parts; ++part) {
        const uint base = (part * p.tiles + index) * 2u * size + at;
        re += parts[base];
        im += parts[base + size];
    }
    gram_store(tile.x * kTileRows + at / kTileColumns, tile.y * kTileColumns + at % kTileColumns, re * re + im * im);
}
