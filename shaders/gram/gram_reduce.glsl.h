// SPDX-License-Identifier: Apache-2.0
// Adds the parts of sums that gram_tile.comp stored, and stores the squared moduli.
// Needs the push constants and buffers of gram_reduce.comp from the shader.
// No include guard: read once for each kernel.

#include "gram_store.glsl.h"

WEFT_MAIN() {
    const uint i = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x +
                   gl_LocalInvocationIndex;
    const uint size = kTileRows * kTileColumns, index = i / size, at = i % size;
    if (i >= count) return;
    const uvec2 tile = gram_tile(index, p.across, p.rows, kTileRows, kTileColumns);
    Real re = Real(0.0), im = Real(0.0);
    for (uint part = 0u; part < r.parts; ++part) {
        const uint base = (part * p.tiles + index) * 2u * size + at;
        re += parts[base];
        im += parts[base + size];
    }
    const uint row = tile.x * kTileRows + at / kTileColumns,
               column = tile.y * kTileColumns + at % kTileColumns;
    gram_store(row, column, gram_scaled(row, column, re * re + im * im));
}
