// SPDX-License-Identifier: Apache-2.0
// Tiles of states and the blocks of K that pairs of them make: which are packed when, whatever packs and
// multiplies them. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include <weft/ops/kernel_matrix.hpp>

namespace weft::kernels {

/// Rows of X or Y, by their number in it.
struct StateRows {
    bool of_y = false;
    std::uint64_t row = 0, count = 0;
};

/// A block of K: `rows` by `columns` of it, which are the states from `row` and `column` on.
struct KernelBlock {
    std::uint64_t row = 0, rows = 0, column = 0, columns = 0;
};

/// The two places that packed states lie in. A square K in one tile has no use for the second.
enum class PackedSide { rows, columns };

inline bool needs_columns(const KernelMatrixShape& shape, std::uint64_t tile) {
    return !shape.square() || shape.samples > tile;
}

/// pack(side, rows) for every tile, in `side` until the next call for that side; then multiply(block, own) for
/// every pair of them. Of a square K only pairs on or below the diagonal come; `own`: on it, both from
/// PackedSide::rows. A Y of one tile is packed once.
template <class Pack, class Multiply>
void each_tile_pair(const KernelMatrixShape& shape, std::uint64_t tile, const Pack& pack,
                    const Multiply& multiply) {
    const std::uint64_t columns = shape.columns();
    const bool square = shape.square(), y_stays = !square && columns <= tile;
    if (y_stays) pack(PackedSide::columns, StateRows{true, 0, columns});
    for (std::uint64_t row = 0; row < shape.samples; row += tile) {
        const std::uint64_t rows = std::min(tile, shape.samples - row);
        pack(PackedSide::rows, StateRows{false, row, rows});
        for (std::uint64_t column = 0; column < (square ? row + 1 : columns); column += tile) {
            const bool own = square && column == row;
            const std::uint64_t across = std::min(tile, columns - column);
            if (!own && !y_stays) pack(PackedSide::columns, StateRows{!square, column, across});
            multiply(KernelBlock{row, rows, column, across}, own);
        }
    }
}

}  // namespace weft::kernels
