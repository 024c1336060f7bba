// SPDX-License-Identifier: Apache-2.0
// Kernel values of product states, as kernel_product.comp defines them. A workgroup computes tiles of 64 x 64
// values, an invocation 8 x 4 of them. Needs the push constants and buffers of kernel_product.comp from the
// shader. No include guard: read once for each kernel.

WEFT_CONST uint kTile = 64, kLongDepth = 16;
// Qubits that are in shared memory simultaneously. They leave room for other workgroups on the same
// processor, whose arithmetic covers the stores of this one.
WEFT_CONST uint kDepth = 8;
WEFT_CONST uint kParts = 2;               // cosine and sine
WEFT_CONST uint kRows = 8, kColumns = 4;  // values of an invocation
WEFT_CONST uint kStrip = kDepth * kParts;

// Four samples side by side, which an invocation loads in one access.
WEFT_GROUP_ROWS(Real4, left, kDepth* kParts, kTile / 4u);
WEFT_GROUP_ROWS(Real4, right, kDepth* kParts, kTile / 4u);

Real product[kRows][kColumns];
Real rest[kRows][kColumns];       // lower digits of product
Real deviation[kRows][kColumns];  // 1 - product of the qubits since the last gather()

struct Tile {
    uint row, column;            // first
    uint last_row, last_column;  // of the output
};

// Invocations that follow each other have four columns side by side, then eight groups of four rows. So they
// write whole sectors of 32 bytes of K, and of its mirror image too. The other four rows of an invocation are
// in the lower half of the tile.
WEFT_GPU uint own_row(uint i) {
    return gl_LocalInvocationIndex % 32u / 4u * 4u + i + i / 4u * (kTile / 2u - 4u);
}
WEFT_GPU uint own_column() {
    return gl_LocalInvocationIndex / 32u * (4u * kColumns) + gl_LocalInvocationIndex % 4u * kColumns;
}

// Tiles of a symmetric output begin at multiples of four samples. An invocation loads four rows or four
// columns of every fourth qubit, which may lie beyond the last ones.
WEFT_GPU void load_fours(Tile tile, uint qubit, uint depth) {
    const uint unit = gl_LocalInvocationIndex % (kTile / 4u);
    const bool of_rows = (gl_LocalInvocationIndex & (kTile / 4u)) == 0u;
    const uint base = of_rows ? p.row_base + tile.row : p.column_base + tile.column, step = p.stride / 4u;
    for (uint k = gl_LocalInvocationIndex / (kTile / 2u); k < depth; k += gl_WorkGroupSize.x / (kTile / 2u)) {
        const uint at = kParts * (qubit + k) * step + min(base / 4u + unit, step - 1u);
        Real4 cosine = plane_fours[at], sine = plane_fours[at + step];
        WEFT_UNROLL for (uint e = 0; e < 4u; ++e) {
            cosine[e] *= kHalf;
            sine[e] *= kHalf;
        }
        if (of_rows) {
            left[k * kParts][unit] = cosine;
            left[k * kParts + 1u][unit] = sine;
        } else {
            right[k * kParts][unit] = cosine;
            right[k * kParts + 1u][unit] = sine;
        }
    }
}

WEFT_GPU void load_each(Tile tile, uint qubit, uint depth) {
    const uint lane = gl_LocalInvocationIndex & (kTile - 1u);
    const bool of_rows = gl_LocalInvocationIndex < kTile;
    const uint at = of_rows ? p.row_base + min(tile.row + lane, tile.last_row)
                            : p.column_base + min(tile.column + lane, tile.last_column);
    for (uint k = 0; k < depth; ++k) {
        const Real cosine = planes[2u * (qubit + k) * p.stride + at];
        const Real sine = planes[(2u * (qubit + k) + 1u) * p.stride + at];
        if (of_rows) {
            left[k * kParts][lane / 4u][lane % 4u] = kHalf * cosine;
            left[k * kParts + 1u][lane / 4u][lane % 4u] = kHalf * sine;
        } else {
            right[k * kParts][lane / 4u][lane % 4u] = kHalf * cosine;
            right[k * kParts + 1u][lane / 4u][lane % 4u] = kHalf * sine;
        }
    }
}

WEFT_GPU void take_qubit(uint k) {
    const uint upper_rows = own_row(0u) / 4u, lower_rows = own_row(4u) / 4u, columns = own_column() / 4u;
    Real a[kParts][kRows], b[kParts][kColumns], of_rz[kColumns];
    WEFT_UNROLL for (uint part = 0; part < kParts; ++part) {
        const Real4 upper = left[k * kParts + part][upper_rows], lower = left[k * kParts + part][lower_rows],
                    of_columns = right[k * kParts + part][columns];
        WEFT_UNROLL for (uint i = 0; i < 4u; ++i) {
            a[part][i] = upper[i];
            a[part][4u + i] = lower[i];
            b[part][i] = of_columns[i];
        }
    }
    WEFT_UNROLL for (uint j = 0; j < kColumns; ++j) of_rz[j] = Real(4.0f) * b[1][j];
    WEFT_UNROLL for (uint i = 0; i < kRows; ++i) WEFT_UNROLL for (uint j = 0; j < kColumns; ++j) {
        WEFT_PRECISE Real apart = a[0][i] - b[0][j];
        WEFT_PRECISE Real square = apart * apart;
        apart = a[1][i] - b[1][j];
        square = fma(apart, apart, square);
        if (kRz) {
            WEFT_PRECISE const Real further = fma(a[1][i], of_rz[j], kOne);
            square *= further;
        }
        if (kLong)
            deviation[i][j] = fma(square, kOne - deviation[i][j], deviation[i][j]);
        else
            product[i][j] = fma(-square, product[i][j], product[i][j]);
    }
}

WEFT_GPU void gather() {
    WEFT_UNROLL for (uint i = 0; i < kRows; ++i) WEFT_UNROLL for (uint j = 0; j < kColumns; ++j) {
        WEFT_PRECISE const Real taken = deviation[i][j] * product[i][j];
        WEFT_PRECISE const Real taken_rest = fma(deviation[i][j], product[i][j], -taken);
        WEFT_PRECISE const Real left_over = product[i][j] - taken;
        WEFT_PRECISE const Real error = (product[i][j] - left_over) - taken;
        rest[i][j] = fma(-deviation[i][j], rest[i][j], rest[i][j]) + (error - taken_rest);
        product[i][j] = left_over;
        deviation[i][j] = kZero;
    }
}

WEFT_GPU void make_values(Tile tile) {
    WEFT_UNROLL for (uint i = 0; i < kRows; ++i) WEFT_UNROLL for (uint j = 0; j < kColumns; ++j) {
        product[i][j] = kOne;
        rest[i][j] = kZero;
        deviation[i][j] = kZero;
    }
    for (uint qubit = 0; qubit < p.qubits; qubit += kDepth) {
        const uint depth = min(kDepth, p.qubits - qubit);
        barrier();
        if (kSymmetric)
            load_fours(tile, qubit, depth);
        else
            load_each(tile, qubit, depth);
        barrier();
        for (uint k = 0; k < depth; ++k) take_qubit(k);
        if (kLong && (qubit + kDepth) % kLongDepth == 0u) gather();
    }
    if (kLong) gather();
#if defined(WEFT_REAL64)
    const Real shrink = packDouble2x32(uvec2(p.shrink_low, p.shrink_high));
#else
    const Real shrink = uintBitsToFloat(p.shrink_low);
#endif
    const uint row = p.row_base + tile.row, column = p.column_base + tile.column + own_column();
    WEFT_UNROLL for (uint i = 0; i < kRows; ++i) WEFT_UNROLL for (uint j = 0; j < kColumns; ++j) {
        if (kLong) {
            product[i][j] += rest[i][j];
            // Sets values from -0 to minus infinity to 0. It compares bits, because drivers replace a
            // comparison by max(), and NaN must be kept.
            if (floatBitsToUint(float(product[i][j])) - 0x80000000u <= 0x7f800000u) product[i][j] = kZero;
        }
        if (shrink != kOne && row + own_row(i) != column + j) product[i][j] *= shrink;
    }
}

WEFT_GPU void put(uint at, Real value) {
#if defined(WEFT_TIMES)
    value *= values[at];
#endif
    values[at] = value;
}

#if !defined(WEFT_TIMES)
// Stores a tile that lies completely within K, four values at a time from their registers.
WEFT_GPU void store_whole(Tile tile, uint first_row, bool mirrored) {
    const uint column = tile.column + own_column(), step = p.columns / 4u;
    const uint at = (p.out_base + (tile.row - first_row) * p.columns + column) / 4u;
    WEFT_UNROLL for (uint i = 0; i < kRows; ++i) fours[at + own_row(i) * step] =
        Real4(product[i][0], product[i][1], product[i][2], product[i][3]);
    if (!mirrored) return;
    const uint across = (p.out_base + column * p.columns + tile.row) / 4u;
    WEFT_UNROLL for (uint j = 0; j < kColumns; ++j) WEFT_UNROLL for (uint i = 0; i < kRows; i += 4u)
        fours[across + j * step + own_row(i) / 4u] =
            Real4(product[i][j], product[i + 1u][j], product[i + 2u][j], product[i + 3u][j]);
}

#endif

// A strip of columns of the tile lies where the left samples were. Neither rows nor columns side by side
// share a bank of the memory.
#define STRIP(column, row) left[column][((row) ^ (column)*4u) / 4u][(row) % 4u]

// Stores a strip of columns at a time through shared memory, so that neighbouring invocations write
// neighbouring values; if `mirrored`, also across the diagonal. `skipped` values of the first row are not
// bound.
WEFT_GPU void store(Tile tile, uint first_row, uint skipped, uint bound, bool mirrored) {
#if !defined(WEFT_TIMES)
    if (kFours && skipped == 0u && tile.row + kTile - 1u <= tile.last_row &&
        tile.column + kTile - 1u <= tile.last_column && (tile.row + kTile - first_row) * p.columns <= bound) {
        store_whole(tile, first_row, mirrored);
        return;
    }
#endif
    WEFT_UNROLL for (uint j = 0; j < kTile / kStrip; ++j) {
        barrier();
        if (own_column() / kStrip == j) {
            WEFT_UNROLL for (uint i = 0; i < kRows; ++i) WEFT_UNROLL for (uint c = 0; c < kColumns; ++c) {
                const uint column = own_column() % kStrip + c;
                STRIP(column, own_row(i)) = product[i][c];
            }
        }
        barrier();
        const uint from = tile.column + kStrip * j;
        for (uint k = gl_LocalInvocationIndex; k < kStrip * kTile; k += gl_WorkGroupSize.x) {
            const uint own = k / kStrip, across = k % kStrip, row = tile.row + own, column = from + across;
            const uint at = (row - first_row) * p.columns + column - skipped;
            if (row <= tile.last_row && column <= tile.last_column && at < bound)
                put(p.out_base + at, STRIP(across, own));
        }
        if (!mirrored) continue;
        for (uint k = gl_LocalInvocationIndex; k < kStrip * kTile; k += gl_WorkGroupSize.x) {
            const uint across = k / kTile, own = k % kTile, row = from + across, column = tile.row + own;
            if (row <= tile.last_column && column <= tile.last_row)
                put(p.out_base + row * p.columns + column, STRIP(across, own));
        }
    }
}
WEFT_GPU void symmetric_tiles() {
    for (uint t = gl_WorkGroupID.x; t < count; t += gl_NumWorkGroups.x) {
        uint row = uint((sqrt(8.0f * float(t) + 1.0f) - 1.0f) * 0.5f);
        if (row * (row + 1u) / 2u > t) --row;
        if ((row + 1u) * (row + 2u) / 2u <= t) ++row;
        const uint column = t - row * (row + 1u) / 2u;
        const Tile tile = Tile(row * kTile, column * kTile, p.rows - 1u, p.rows - 1u);
        make_values(tile);
        store(tile, 0u, 0u, 0xffffffffu, row != column);
    }
}

WEFT_GPU void plain_tiles() {
    const uint first_row = first / p.columns, skipped = first - first_row * p.columns;
    const uint rows = (skipped + count + p.columns - 1u) / p.columns;
    const uint across = (p.columns + kTile - 1u) / kTile, tiles = (rows + kTile - 1u) / kTile * across;
    for (uint t = gl_WorkGroupID.x; t < tiles; t += gl_NumWorkGroups.x) {
        const uint down = t / across;
        const Tile tile = Tile(first_row + down * kTile, (t - down * across) * kTile, first_row + rows - 1u,
                               p.columns - 1u);
        make_values(tile);
        store(tile, first_row, skipped, count, false);
    }
}

WEFT_MAIN() {
    if (kSymmetric)
        symmetric_tiles();
    else
        plain_tiles();
}
