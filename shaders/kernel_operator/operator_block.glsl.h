// SPDX-License-Identifier: Apache-2.0
// A block of K times columns of V, as operator_block.comp defines it. Needs its push constants and buffers
// from the shader. No include guard: read once for each kernel.

WEFT_CONST uint kBlockRows = 32, kBlockColumns = 64, kShare = 4;
// Rows are this far apart, so that the invocations that read together are in different banks.
WEFT_CONST uint kBlockApart = kBlockColumns + 4;
WEFT_CONST uint kMostWidth = 16;

WEFT_GROUP(Real, tile, kBlockRows* kBlockApart);      // [row][column]
WEFT_GROUP(Real, values, kBlockColumns* kMostWidth);  // [column][column of V]

// Both are 0 outside of the block.
WEFT_GPU void load_tile(uint first_row, uint first_column) {
    const uint lanes = kBlockRows * kShare;
    for (uint i = gl_LocalInvocationIndex; i < kBlockRows * kBlockColumns; i += lanes) {
        const uint row = i / kBlockColumns, column = i % kBlockColumns;
        const uint from = first_row + row, across = first_column + column;
        Real value = kZero;
        if (from < p.rows && across < p.columns) value = block[p.before + from * p.leading + across];
        tile[row * kBlockApart + column] = value;
    }
    for (uint i = gl_LocalInvocationIndex; i < kBlockColumns * kWidth; i += lanes) {
        const uint column = i / kWidth, c = i - column * kWidth;
        Real value = kZero;
        if (first_column + column < p.columns) value = v[p.in_base + (first_column + column) * p.width + c];
        values[i] = value;
    }
}

WEFT_GPU void finish(uint row, uint c, Real sum) {
    Real value = real_of(p.alpha_low, p.alpha_high) * sum;
    const uint own = row + p.diagonal;
    if (p.with_v != 0u && own < p.columns)
        value = fma(real_of(p.delta_low, p.delta_high), v[p.in_base + own * p.width + c], value);
    const uint at = p.out_base + row * p.width + c;
    if (p.with_out != 0u) value = fma(real_of(p.beta_low, p.beta_high), result[at], value);
    result[at] = value;
}

WEFT_GPU void multiply(uint workgroup) {
    const uint first_row = workgroup * kBlockRows;
    const uint row = gl_LocalInvocationIndex / kShare, share = gl_LocalInvocationIndex % kShare;
    Real total[kMostWidth];
    for (uint c = 0; c < kWidth; ++c) total[c] = kZero;
    for (uint first_column = 0; first_column < p.columns; first_column += kBlockColumns) {
        barrier();
        load_tile(first_row, first_column);
        barrier();
        Real sum[kMostWidth];
        for (uint c = 0; c < kWidth; ++c) sum[c] = kZero;
        for (uint column = share; column < kBlockColumns; column += kShare) {
            const Real value = tile[row * kBlockApart + column];
            for (uint c = 0; c < kWidth; ++c) sum[c] = fma(value, values[column * kWidth + c], sum[c]);
        }
        for (uint c = 0; c < kWidth; ++c) total[c] += sum[c];
    }
    for (uint c = 0; c < kWidth; ++c) {
        barrier();
        tile[gl_LocalInvocationIndex] = total[c];
        barrier();
        const uint at = gl_LocalInvocationIndex;
        if (share == 0u && first_row + row < p.rows)
            finish(first_row + row, c, (tile[at] + tile[at + 1u]) + (tile[at + 2u] + tile[at + 3u]));
    }
}

WEFT_MAIN() {
    const uint workgroup = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (kDiagonal) {
        const uint step = gl_NumWorkGroups.x * gl_NumWorkGroups.y * gl_WorkGroupSize.x;
        for (uint i = workgroup * gl_WorkGroupSize.x + gl_LocalInvocationIndex; i < p.rows; i += step)
            result[p.out_base + i] = block[p.before + i * p.leading + i];
        return;
    }
    if (workgroup >= count) return;
    multiply(workgroup);
}
