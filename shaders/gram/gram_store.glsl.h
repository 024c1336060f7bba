// SPDX-License-Identifier: Apache-2.0
// Stores the outputs of the Gram product's shaders: K, and its mirror image if wanted. Needs Real, kWide
// (elements of K are double), kScaled (values are multiplied by factors, because rounding changed the norms
// of the states), the push constants `p`, the buffers of gram_output.h and `factors`.
#if defined(WEFT_REAL64)
WEFT_GPU uvec2 gram_double(Real value) {
    return unpackDouble2x32(value);
}
#else
WEFT_GPU uvec2 gram_double(Real value) {
    return gram_widen(value);
}
#endif

// A tile on the diagonal has both (i, j) and (j, i), which may differ in the last bit; only one of them is
// used.
WEFT_GPU bool gram_wanted(uint row, uint column) {
    return row < p.rows && column < p.columns && (p.across != 0u || row >= column);
}

WEFT_GPU Real gram_row_factor(uint row) {
    return kScaled ? factors[p.factor_row + min(row, p.rows - 1u)] : Real(1.0);
}
WEFT_GPU Real gram_column_factor(uint column) {
    return kScaled ? factors[p.factor_column + min(column, p.columns - 1u)] : Real(1.0);
}

// The value to store. It has the same bits for the mirror image.
WEFT_GPU Real gram_times(Real value, Real row_factor, Real column_factor) {
    if (!kScaled) return value;
    WEFT_PRECISE const Real factor = row_factor * column_factor;
    WEFT_PRECISE const Real scaled = value * factor;
    return scaled;
}

WEFT_GPU Real gram_scaled(uint row, uint column, Real value) {
    return gram_times(value, gram_row_factor(row), gram_column_factor(column));
}

WEFT_GPU void gram_store_direct(uint row, uint column, Real value) {
    if (!gram_wanted(row, column)) return;
    const uint at = p.origin + row * p.leading + column;
    if (kWide)
        wide[at] = gram_double(value);
    else
        narrow[at] = float(value);
}

WEFT_GPU void gram_store_mirror(uint row, uint column, Real value) {
    if (!gram_wanted(row, column) || p.mirror == 0u || (p.across == 0u && row == column)) return;
    const uint at = p.mirror_origin + column * p.leading + row;
    if (kWide)
        wide_mirror[at] = gram_double(value);
    else
        narrow_mirror[at] = float(value);
}

WEFT_GPU void gram_store(uint row, uint column, Real value) {
    gram_store_direct(row, column, value);
    gram_store_mirror(row, column, value);
}
