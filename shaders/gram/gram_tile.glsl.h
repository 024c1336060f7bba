// SPDX-License-Identifier: Apache-2.0
// A tile of |X Y^H|^2 from packed planes of float, or of double (WEFT_REAL64). There are kRowThreads by
// kColumnThreads invocations, each with kRows by 4 complex sums in registers.
// Needs the push constants and buffers of gram_tile.comp from the shader.
// No include guard: read once for each kernel.

// Sizes are in units of four rows.
WEFT_CONST uint kUnits = kRows / 4u;
WEFT_CONST uint kHigh = kRowThreads * kUnits, kWidth = kColumnThreads;
WEFT_CONST uint kBlockUnits = kGramBlockRows / 4u;
WEFT_CONST uint kLane = kGramStep * kBlockUnits;  // of a plane of a block
WEFT_CONST uint kBlock = kGramPlanes * kLane;
WEFT_CONST uint kThreads = kRowThreads * kColumnThreads;
WEFT_CONST uint kItemsX = kGramStep * kHigh, kItemsY = kGramStep * kWidth;
WEFT_CONST uint kLoadsX = (kItemsX + kThreads - 1u) / kThreads,
                kLoadsY = (kItemsY + kThreads - 1u) / kThreads;
WEFT_CONST uint kHeldX = kHeld * kItemsX, kHeldY = kHeld * kItemsY;

WEFT_GROUP(Real4, held_x, kStages* kHeldX);
WEFT_GROUP(Real4, held_y, kStages* kHeldY);

Real4 next_x[2u * kLoadsX], next_y[2u * kLoadsY];
uint from_x[kLoadsX], from_y[kLoadsY];
Real4 sums[kSums * kRows], re[kRows], im[kRows];

// Where unit `item` of a stage is in packed block `block`. The stage has `high` units of rows from `base` on.
// A tile may extend beyond the last rows; it then reads the last ones again.
WEFT_GPU uint source(uint base, uint item, uint high, uint rows, uint block) {
    const uint at = min(base + item % high, (rows - 1u) / kGramBlockRows * kBlockUnits + kBlockUnits - 1u);
    return (at / kBlockUnits * p.blocks + block) * kBlock + item / high * kBlockUnits + at % kBlockUnits;
}

WEFT_GPU void aim(uint base_x, uint base_y, uint block) {
    WEFT_UNROLL for (uint i = 0u; i < kLoadsX; ++i) from_x[i] =
        source(base_x, i * kThreads + gl_LocalInvocationIndex, kHigh, p.rows, block);
    WEFT_UNROLL for (uint i = 0u; i < kLoadsY; ++i) from_y[i] =
        source(base_y, i * kThreads + gl_LocalInvocationIndex, kWidth, p.columns, block);
}

// Whether item i of this invocation belongs to the stage; for some i it does only in a part of the
// invocations.
WEFT_GPU bool held_here(uint i, uint items) {
    return items % kThreads == 0u || i * kThreads + gl_LocalInvocationIndex < items;
}

WEFT_GPU void load() {
    WEFT_UNROLL for (uint i = 0u; i < kLoadsX; ++i) {
        if (!held_here(i, kItemsX)) break;
        next_x[2u * i] = x[from_x[i]];
        next_x[2u * i + 1u] = x[from_x[i] + kLane];
        from_x[i] += kBlock;
    }
    WEFT_UNROLL for (uint i = 0u; i < kLoadsY; ++i) {
        if (!held_here(i, kItemsY)) break;
        next_y[2u * i] = y[from_y[i]];
        next_y[2u * i + 1u] = y[from_y[i] + kLane];
        from_y[i] += kBlock;
    }
}

WEFT_GPU void hold(uint stage) {
    WEFT_UNROLL for (uint i = 0u; i < kLoadsX; ++i) {
        if (!held_here(i, kItemsX)) break;
        const uint at = stage * kHeldX + i * kThreads + gl_LocalInvocationIndex;
        held_x[at] = next_x[2u * i];
        held_x[at + kItemsX] = next_x[2u * i + 1u];
        if (kHeld == 3u) held_x[at + 2u * kItemsX] = next_x[2u * i] + next_x[2u * i + 1u];
    }
    WEFT_UNROLL for (uint i = 0u; i < kLoadsY; ++i) {
        if (!held_here(i, kItemsY)) break;
        const uint at = stage * kHeldY + i * kThreads + gl_LocalInvocationIndex;
        held_y[at] = next_y[2u * i];
        held_y[at + kItemsY] = next_y[2u * i + 1u];
        if (kHeld == 3u) held_y[at + 2u * kItemsY] = next_y[2u * i] - next_y[2u * i + 1u];
    }
}

WEFT_GPU void clear() {
    WEFT_UNROLL for (uint i = 0u; i < kSums * kRows; ++i) sums[i] = Real4(0.0);
}

WEFT_GPU void multiply(uint stage, uint row, uint column) {
    WEFT_UNROLL for (uint k = 0u; k < kGramStep; ++k) {
        const uint at_x = stage * kHeldX + k * kHigh + row * kUnits,
                   at_y = stage * kHeldY + k * kWidth + column;
#if defined(WEFT_3M)
        WEFT_UNROLL for (uint s = 0u; s < 3u; ++s) {
            const Real4 b = held_y[at_y + s * kItemsY];
            WEFT_UNROLL for (uint u = 0u; u < kUnits; ++u) {
                const Real4 a = held_x[at_x + s * kItemsX + u];
                WEFT_UNROLL for (uint r = 0u; r < 4u; ++r) {
                    const uint i = s * kRows + u * 4u + r;
                    sums[i] = fma(Real4(a[r]), b, sums[i]);
                }
            }
        }
#else
        const Real4 br = held_y[at_y], bi = held_y[at_y + kItemsY];
        WEFT_UNROLL for (uint u = 0u; u < kUnits; ++u) {
            const Real4 ar = held_x[at_x + u], ai = held_x[at_x + kItemsX + u];
            WEFT_UNROLL for (uint r = 0u; r < 4u; ++r) {
                const uint i = u * 4u + r;
                sums[i] = fma(Real4(ai[r]), bi, fma(Real4(ar[r]), br, sums[i]));
                sums[kRows + i] = fma(Real4(-ar[r]), bi, fma(Real4(ai[r]), br, sums[kRows + i]));
            }
        }
#endif
    }
}

// Adds the sums to the outer sums, which have few additions and so small rounding errors.
WEFT_GPU void flush() {
    WEFT_UNROLL for (uint i = 0u; i < kRows; ++i) {
#if defined(WEFT_3M)
        re[i] += sums[i] + sums[kRows + i];
        im[i] += sums[2u * kRows + i] - sums[i] + sums[kRows + i];
#else
        re[i] += sums[i];
        im[i] += sums[kRows + i];
#endif
    }
}

WEFT_MAIN() {
    const uint index = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (index >= count) return;
    const uvec2 tile = gram_tile(index % p.tiles, p.across, p.rows, kHigh * 4u, kWidth * 4u);
    if (tile.y * kWidth * 4u >= p.columns) return;
    const uint row = gl_LocalInvocationIndex / kColumnThreads,
               column = gl_LocalInvocationIndex % kColumnThreads;
    const uint base_x = tile.x * kHigh, base_y = tile.y * kWidth;
    uint block = index / p.tiles * p.part_blocks;
    const uint end = min(block + p.part_blocks, p.blocks);

    WEFT_UNROLL for (uint i = 0u; i < kRows; ++i) re[i] = im[i] = Real4(0.0);
    if (block < end) {
        aim(base_x, base_y, block);
        load();
        hold(0u);
    }
    uint stage = 0u;
    barrier();
    while (block < end) {
        const uint stop = min(block + kFlushBlocks, end);
        clear();
        for (; block < stop; ++block) {
            const bool more = block + 1u < end;
            if (more) load();
            multiply(stage, row, column);
            if (kStages == 1u)
                barrier();
            else
                stage ^= 1u;
            if (more) hold(stage);
            barrier();
        }
        flush();
    }
    WEFT_UNROLL for (uint i = 0u; i < kRows; ++i) {
        if (kParts > 1u) {
            const uint at = index * 2u * kRows * kThreads + (row * kRows + i) * kWidth + column;
            parts[at] = re[i];
            parts[at + kRows * kThreads] = im[i];
            continue;
        }
        const Real4 value = re[i] * re[i] + im[i] * im[i];
        WEFT_UNROLL for (uint c = 0u; c < 4u; ++c) {
            const uint x_row = (base_x + row * kUnits) * 4u + i, y_row = (base_y + column) * 4u + c;
            gram_store(x_row, y_row, gram_scaled(x_row, y_row, value[c]));
        }
    }
}
