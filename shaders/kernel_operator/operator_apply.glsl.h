// SPDX-License-Identifier: Apache-2.0
// Sums of kernel values times V, as operator_apply.comp defines them. Needs its push constants, buffers and
// constants from the shader. No include guard: read once for each kernel.

WEFT_CONST uint kUnits = (kQubits * kNumbers + 3u) / 4u;  // of four numbers, of a part
WEFT_CONST uint kPadded = kUnits * 4u;
WEFT_CONST uint kHeld = kParts ? kTile : 1u;  // kernel values of a row that are kept
// Sums over the invocations, which a symmetric product makes for kBatch values at a time.
WEFT_CONST uint kBatch = 16, kBatchColumns = kBatch / kWidth, kStrips = WEFT_GROUP_SIZE / kBatch;
WEFT_CONST uint kApart = WEFT_GROUP_SIZE + 1u;  // so that values of one invocation are in different banks

WEFT_GROUP(Real4, tile, kTile* kUnits);
WEFT_GROUP(Real, tile_v, kTile* kWidth);
WEFT_GROUP(Real, batch, kSymmetric ? kBatch* kApart : 1u);
WEFT_GROUP(Real, strips, kSymmetric ? kTile* kWidth* kStrips : 1u);

Real row[kRows][kPadded];  // halved
Real column[kPadded];
Real value[kRows];
Real held[kRows][kHeld];
Real sum[kRows][kWidth];    // of a tile
Real total[kRows][kWidth];  // of a split
Real own_v[kRows][kWidth];  // V of the rows

WEFT_GPU uint row_of(uint block, uint i) {
    return (block * kRows + i) * WEFT_GROUP_SIZE + gl_LocalInvocationIndex;
}

WEFT_GPU void load_rows(uint block, uint part) {
    WEFT_UNROLL for (uint i = 0; i < kRows; ++i) {
        const uint at = (min(row_of(block, i), p.rows - 1u) * p.parts + part) * kUnits;
        WEFT_UNROLL for (uint u = 0; u < kUnits; ++u) {
            const Real4 four = row_samples[at + u];
            WEFT_UNROLL for (uint e = 0; e < 4u; ++e) row[i][4u * u + e] = kHalf * four[e];
        }
    }
}

WEFT_GPU void load_tile(uint from, uint part) {
    for (uint i = gl_LocalInvocationIndex; i < kTile * kUnits; i += WEFT_GROUP_SIZE) {
        const uint of_tile = i / kUnits, unit = i - of_tile * kUnits;
        tile[i] = column_samples[(min(from + of_tile, p.columns - 1u) * p.parts + part) * kUnits + unit];
    }
}

// Columns beyond the last one count as 0.
WEFT_GPU void load_values(uint from, uint end) {
    for (uint i = gl_LocalInvocationIndex; i < kTile * kWidth; i += WEFT_GROUP_SIZE) {
        const uint j = from + i / kWidth;
        tile_v[i] = j < end ? v[p.in_base + min(j, p.columns - 1u) * p.width + i % kWidth] : kZero;
    }
}

// Kernel values of the own rows and a column of the tile, or what a part contributes to them.
WEFT_GPU void make_values(uint j) {
    WEFT_UNROLL for (uint u = 0; u < kUnits; ++u) {
        const Real4 four = tile[j * kUnits + u];
        WEFT_UNROLL for (uint e = 0; e < 4u; ++e) column[4u * u + e] = four[e];
    }
    WEFT_UNROLL for (uint i = 0; i < kRows; ++i) {
        WEFT_UNROLL for (uint q = 0; q < kQubits; ++q) {
            Real factor = kHalf;
            WEFT_UNROLL for (uint c = 0; c < kNumbers; ++c) factor =
                fma(row[i][q * kNumbers + c], column[q * kNumbers + c], factor);
            value[i] = q == 0u ? factor : value[i] * factor;
        }
    }
}

WEFT_GPU void add_values(uint j) {
    WEFT_UNROLL for (uint k = 0; k < kWidth; ++k) {
        const Real of_column = tile_v[j * kWidth + k];
        WEFT_UNROLL for (uint i = 0; i < kRows; ++i) sum[i][k] = fma(value[i], of_column, sum[i][k]);
    }
}

WEFT_GPU void take_tile() {
    for (uint j = 0; j < kTile; j += kTogether) WEFT_UNROLL for (uint t = 0; t < kTogether; ++t) {
            make_values(j + t);
            add_values(j + t);
        }
}

// The same for samples of several parts.
WEFT_GPU void take_parts(uint block, uint from) {
    WEFT_UNROLL for (uint i = 0; i < kRows; ++i) WEFT_UNROLL for (uint j = 0; j < kHeld; ++j) held[i][j] =
        kOne;
    for (uint part = 0; part < p.parts; ++part) {
        if (part != 0u) {
            barrier();
            load_tile(from, part);
            barrier();
        }
        load_rows(block, part);
        WEFT_UNROLL for (uint j = 0; j < kHeld; ++j) {
            make_values(j);
            WEFT_UNROLL for (uint i = 0; i < kRows; ++i) held[i][j] *= value[i];
        }
    }
    WEFT_UNROLL for (uint j = 0; j < kHeld; ++j) {
        WEFT_UNROLL for (uint i = 0; i < kRows; ++i) value[i] = held[i][j];
        add_values(j);
    }
}

// A tile left of the diagonal block. Sums over rows of kernel values times V of the rows: first over the rows
// of an invocation, then over strips of kBatch invocations, then over the strips.
WEFT_GPU void take_tile_twice(uint block, uint from) {
    const uint entry = gl_LocalInvocationIndex % kBatch, strip = gl_LocalInvocationIndex / kBatch;
    for (uint j = 0; j < kTile; j += kBatchColumns) {
        for (uint some = 0; some < kBatchColumns; some += kTwiceTogether)
            WEFT_UNROLL for (uint s = 0; s < kTwiceTogether; ++s) {
                const uint t = some + s;
                make_values(j + t);
                add_values(j + t);
                WEFT_UNROLL for (uint k = 0; k < kWidth; ++k) {
                    Real of_rows = kZero;
                    WEFT_UNROLL for (uint i = 0; i < kRows; ++i) of_rows =
                        fma(value[i], own_v[i][k], of_rows);
                    batch[(t * kWidth + k) * kApart + gl_LocalInvocationIndex] = of_rows;
                }
            }
        barrier();
        Real of_strip = kZero;
        WEFT_UNROLL for (uint i = 0; i < kBatch; ++i) of_strip += batch[entry * kApart + strip * kBatch + i];
        strips[strip * (kTile * kWidth) + j * kWidth + entry] = of_strip;
        barrier();
    }
    for (uint i = gl_LocalInvocationIndex; i < kTile * kWidth; i += WEFT_GROUP_SIZE) {
        Real all = kZero;
        for (uint s = 0; s < kStrips; ++s) all += strips[s * (kTile * kWidth) + i];
        if (from + i / kWidth < p.columns) other[(block * p.columns + from) * kWidth + i] = all;
    }
}

WEFT_GPU void take_own_values(uint block) {
    WEFT_UNROLL for (uint i = 0; i < kRows; ++i) {
        const uint at = row_of(block, i);
        WEFT_UNROLL for (uint k = 0; k < kWidth; ++k) own_v[i][k] =
            at < p.rows ? v[p.own_base + min(at, p.rows - 1u) * p.width + k] : kZero;
    }
}

WEFT_MAIN() {
    const uint workgroup = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (workgroup >= count) return;
    const uint rows_of = kRows * WEFT_GROUP_SIZE, blocks = (p.rows + rows_of - 1u) / rows_of;
    const uint split = workgroup / blocks, block = workgroup - split * blocks;
    // The diagonal block of a symmetric product is computed whole; what lies right of it comes from other
    // rows.
    const uint diagonal = p.diagonal + block * rows_of;
    const uint last = kSymmetric ? min(p.columns, diagonal + rows_of) : p.columns;
    const uint begin = split * p.split, end = min(begin + p.split, last);
    WEFT_UNROLL for (uint i = 0; i < kRows; ++i) WEFT_UNROLL for (uint k = 0; k < kWidth; ++k) total[i][k] =
        kZero;
    if (!kParts) load_rows(block, 0u);
    if (kSymmetric) take_own_values(block);
    for (uint from = begin; from < end; from += kTile) {
        barrier();
        load_tile(from, 0u);
        load_values(from, end);
        barrier();
        WEFT_UNROLL for (uint i = 0; i < kRows; ++i) WEFT_UNROLL for (uint k = 0; k < kWidth; ++k) sum[i][k] =
            kZero;
        if (kParts)
            take_parts(block, from);
        else if (kSymmetric && from < diagonal)
            take_tile_twice(block, from);
        else
            take_tile();
        WEFT_UNROLL for (uint i = 0; i < kRows; ++i) WEFT_UNROLL for (uint k = 0; k < kWidth; ++k)
            total[i][k] += sum[i][k];
    }
    WEFT_UNROLL for (uint i = 0; i < kRows; ++i) {
        const uint at = row_of(block, i);
        if (at < p.rows)
            WEFT_UNROLL for (uint k = 0; k < kWidth; ++k) sums[(split * p.rows + at) * kWidth + k] =
                total[i][k];
    }
}
