// SPDX-License-Identifier: Apache-2.0
// What the Gram product's host code passes to its shaders, and how they find their tiles.
#ifndef WEFT_SHARED_GRAM_FORM_H
#define WEFT_SHARED_GRAM_FORM_H

#include "shaders/shared/portable.h"

WEFT_SHARED_BEGIN

// Push constants behind `count` and `first`. A workgroup takes a tile of a block of K, or a part of the sums
// of one. Element (i, j) of the block is origin + i * leading + j of the bound output.
struct GramParameters {
    uint rows, columns;  // of the block
    uint blocks;         // packed blocks of a row
    uint across;         // tiles side by side; 0: the block lies on the diagonal, tiles above are left out
    uint leading;
    uint origin;
    uint mirror_origin;              // of element (j, i) in the other bound output
    uint mirror;                     // whether that is written
    uint tiles;                      // of the block
    uint part_blocks;                // packed blocks of a part of the sums
    uint factor_row, factor_column;  // of the block's first row and column, where values are scaled
};

// The same for packing: a workgroup takes 64 rows by 16 amplitudes.
struct GramPackParameters {
    uint rows;
    uint amplitudes;
    uint blocks;  // packed blocks of a row
    uint before;  // complex numbers before the first of row 0 in the bound states
    uint across;  // workgroups of 64 rows
};
const uint kGramPackAmplitudes = 16u;

// And for adding the parts of sums: an element is a complex number of a tile.
struct GramReduceParameters {
    GramParameters p;
    uint parts;
};

// Row of element `index` of a triangle, counted row by row.
WEFT_FN uint gram_triangle_row(uint index) {
    const float root = sqrt(8.0f * float(index) + 1.0f);
    uint row = uint(0.5f * (root - 1.0f));
    // A float may be off by some rows where there are many.
    while (row * (row + 1u) / 2u > index) --row;
    while ((row + 1u) * (row + 2u) / 2u <= index) ++row;
    return row;
}

// Row and column of tile `index` of a block of `high` rows, in tiles of `rows` by `columns`, `across` side by
// side. On the diagonal (0) tile row i has rows / columns * (i + 1) of them. Tiles are counted in bands of
// kGramBand rows of K, column by column: those under way at a time then need few states, most of which the
// device's cache has.
const uint kGramBand = 1024u;
WEFT_FN uvec2 gram_tile(uint index, uint across, uint high, uint rows, uint columns) {
    const uint ratio = rows / columns, band = kGramBand / rows;
    const uint row = across != 0u ? index / across : gram_triangle_row(index / ratio),
               first = row / band * band;
    const uint rest = (high + rows - 1u) / rows - first, height = rest < band ? rest : band;
    const uint whole = height * (across != 0u ? across : first * ratio);
    const uint at = index - (across != 0u ? first * across : ratio * (first * (first + 1u) / 2u));
    if (at < whole) return uvec2(first + at % height, at / height);
    const uint beyond = at - whole, down = gram_triangle_row(beyond / ratio);
    return uvec2(first + down, first * ratio + beyond - ratio * (down * (down + 1u) / 2u));
}

// The bits of a float of at least 0 as a double, low word first; what is denormal becomes 0.
WEFT_FN uvec2 gram_widen(float value) {
    const uint bits = floatBitsToUint(value) & 0x7fffffffu, exponent = bits >> 23;
    if (exponent == 0u) return uvec2(0u, 0u);
    const uint bias = exponent == 255u ? 1792u : 896u;
    return uvec2(bits << 29, (bits >> 3) + (bias << 20));
}

WEFT_SHARED_END

#endif
