// SPDX-License-Identifier: Apache-2.0
// Rows of K that a list names, or its diagonal. Needs the push constants, buffers and constants of
// operator_rows.comp from the shader. No include guard: read once for each kernel.

WEFT_CONST uint kTwo = 2u * kNumbers;  // numbers of two qubits, which are read together

uint row_at[kRows], column_at[kColumns];  // first numbers of samples
Real row[kRows][kTwo];                    // halved
Real column[kColumns][kTwo];
Real value[kRows][kColumns];

// It compares bits, because drivers may assume that no value is NaN.
WEFT_GPU bool is_nan(Real number) {
#if defined(WEFT_REAL64)
    const uvec2 bits = unpackDouble2x32(number);
    return (bits.y & 0x7fffffffu) + (bits.x != 0u ? 1u : 0u) > 0x7ff00000u;
#else
    return (floatBitsToUint(number) & 0x7fffffffu) > 0x7f800000u;
#endif
}

#if defined(WEFT_LANES)
// The numbers of a part fill whole words, so that one number more than there are can be read.
WEFT_GPU void load(uint from, uint numbers) {
    WEFT_UNROLL for (uint n = 0; n < kTwo; n += 2u) if (n < numbers) {
        WEFT_UNROLL for (uint i = 0; i < kRows; ++i) {
            const vec2 two =
                kHalf * uintBitsToFloat(unpackDouble2x32(row_words[(row_at[i] + from + n) / 2u]));
            row[i][n] = two.x;
            row[i][n + 1u] = two.y;
        }
        WEFT_UNROLL for (uint j = 0; j < kColumns; ++j) {
            const vec2 two = uintBitsToFloat(unpackDouble2x32(column_words[(column_at[j] + from + n) / 2u]));
            column[j][n] = two.x;
            column[j][n + 1u] = two.y;
        }
    }
}
#else
WEFT_GPU void load(uint from, uint numbers) {
    WEFT_UNROLL for (uint n = 0; n < kTwo; ++n) if (n < numbers) {
        WEFT_UNROLL for (uint i = 0; i < kRows; ++i) row[i][n] = kHalf * row_samples[row_at[i] + from + n];
        WEFT_UNROLL for (uint j = 0; j < kColumns; ++j) column[j][n] =
            column_samples[column_at[j] + from + n];
    }
}
#endif

// Multiplies the values by the factors of one or two qubits, whose numbers begin at `from`.
WEFT_GPU void multiply(uint from, uint qubits) {
    load(from, qubits * kNumbers);
    WEFT_UNROLL for (uint q = 0; q < 2u; ++q) if (q < qubits) {
        WEFT_UNROLL for (uint i = 0; i < kRows; ++i) WEFT_UNROLL for (uint j = 0; j < kColumns; ++j) {
            Real factor = kHalf;
            WEFT_UNROLL for (uint c = 0; c < kNumbers; ++c) factor =
                fma(row[i][q * kNumbers + c], column[j][q * kNumbers + c], factor);
            value[i][j] *= factor;
        }
    }
}

WEFT_GPU void make_values() {
    WEFT_UNROLL for (uint i = 0; i < kRows; ++i) WEFT_UNROLL for (uint j = 0; j < kColumns; ++j) value[i][j] =
        kOne;
    for (uint part = 0; part < p.parts; ++part) {
        uint from = part * p.part_numbers;
        for (uint q = 0; q + 1u < p.qubits; q += 2u, from += kTwo) multiply(from, 2u);
        if ((p.qubits & 1u) != 0u) multiply(from, 1u);
    }
}

// The value of a sample with itself, of which only NaN is not known. Of rows, it takes the place of one that
// was stored before: a look at each value would take longer than all arithmetic of a few qubits.
WEFT_GPU void store_own(uint i) {
    if (i >= count) return;
    const uint sample_of = kListed ? list[p.list_base + i] : i, column_of = sample_of - p.column_base;
    row_at[0] = sample_of * (p.parts * p.part_numbers);
    column_at[0] = row_at[0];
    make_values();
    const Real own = is_nan(value[0][0]) ? value[0][0] : real_of(p.own_low, p.own_high);
    if (!kListed)
        result[p.out_base + i] = own;
    else if (column_of < p.columns)  // beyond it, or before column 0, which wraps around: of another band
        result[p.out_base + i * p.out_width + column_of] = own;
}

WEFT_MAIN() {
    const uint workgroup = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (kOwn) {
        store_own(workgroup * WEFT_GROUP_SIZE + gl_LocalInvocationIndex);
        return;
    }
    if (workgroup >= count) return;
    const uint wide = kColumns * WEFT_GROUP_SIZE, across = (p.columns + wide - 1u) / wide,
               down = workgroup / across;
    const uint first_row = down * kRows;
    const uint first_column = (workgroup - down * across) * wide + gl_LocalInvocationIndex;
    const uint numbers = p.parts * p.part_numbers;
    WEFT_UNROLL for (uint i = 0; i < kRows; ++i) row_at[i] =
        list[p.list_base + min(first_row + i, p.rows - 1u)] * numbers;
    WEFT_UNROLL for (uint j = 0; j < kColumns; ++j) column_at[j] =
        min(first_column + j * WEFT_GROUP_SIZE, p.columns - 1u) * numbers;
    make_values();
    const Real shrink = real_of(p.shrink_low, p.shrink_high);
    WEFT_UNROLL for (uint i = 0; i < kRows; ++i) WEFT_UNROLL for (uint j = 0; j < kColumns; ++j) {
        const uint at = first_column + j * WEFT_GROUP_SIZE;
        if (first_row + i < p.rows && at < p.columns)
            result[p.out_base + (first_row + i) * p.out_width + at] = value[i][j] * shrink;
    }
}
