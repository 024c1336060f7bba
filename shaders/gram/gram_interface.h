// SPDX-License-Identifier: Apache-2.0
// The parameters that the Gram product's host code passes to its shaders, and how these find their tiles.
#ifndef WEFT_SHARED_GRAM_FORM_H
#define WEFT_SHARED_GRAM_FORM_H

#include "shaders/shared/portable.h"

WEFT_SHARED_BEGIN

// Push constants after `count` and `first`. A workgroup takes a tile of a block of K, or a part of the sums
// of a tile. Element (i, j) of the block is element origin + i * leading + j of the bound output.
struct GramParameters {
    uint rows, columns;  // of the block
    uint blocks;         // packed blocks of a row
    uint across;  // tiles side by side; 0: the block is on the diagonal and tiles above it are left out
    uint leading;
    uint origin;
    uint mirror_origin;              // origin of element (j, i) in the other bound output
    uint mirror;                     // whether the mirror image is written
    uint tiles;                      // of the block
    uint part_blocks;                // packed blocks of a part of the sums
    uint factor_row, factor_column;  // factors of the block's first row and column, if values are scaled
};

// The push constants for packing. A workgroup takes 64 rows by 16 amplitudes.
struct GramPackParameters {
    uint rows;
    uint amplitudes;
    uint blocks;  // packed blocks of a row
    uint before;  // complex numbers before the first of row 0 in the bound states
    uint across;  // workgroups of 64 rows
};
const uint kGramPackAmplitudes = 16u;

// The push constants for adding the parts of sums. An element is a complex number of a tile.
struct GramReduceParameters {
    GramParameters p;
    uint parts;
};

// The row of element `index` of a triangle whose elements are counted row by row.
WEFT_FN uint gram_triangle_row(uint index) {
    const float root = sqrt(8.0f * float(index) + 1.0f);
    uint row = uint(0.5f * (root - 1.0f));
    // If there are many rows, the float may be off by some.
    while (row * (row + 1u) / 2u > index) --row;
    while ((row + 1u) * (row + 2u) / 2u <= index) ++row;
    return row;
}

// The row and column of tile `index` of a block of `high` rows. Tiles have `rows` by `columns` values, and
// `across` of them are side by side. On the diagonal (across = 0), tile row i has rows / columns * (i + 1)
// tiles. Tiles are counted in bands of kGramBand rows of K, column by column, so that the tiles under way
// need few states, most of which are in the device's cache.
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

// The bits of a non-negative float as a double, low word first. A denormal float becomes 0.
WEFT_FN uvec2 gram_widen(float value) {
    const uint bits = floatBitsToUint(value) & 0x7fffffffu, exponent = bits >> 23;
    if (exponent == 0u) return uvec2(0u, 0u);
    const uint bias = exponent == 255u ? 1792u : 896u;
    return uvec2(bits << 29, (bits >> 3) + (bias << 20));
}

WEFT_SHARED_END

#endif
