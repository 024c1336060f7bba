// SPDX-License-Identifier: Apache-2.0
#include "mpi/block_cyclic.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include <weft/error.hpp>

namespace weft::mpi {
namespace {

/// Of `length` rows or columns, those that place `at` of `places` has.
std::uint64_t local_length(std::uint64_t length, std::uint64_t block, std::uint64_t at,
                           std::uint64_t places) {
    const std::uint64_t whole = length / block, extra = whole % places;
    return whole / places * block + (at < extra ? block : at == extra ? length % block : 0);
}

/// Where a row or column lies among those of its place.
std::uint64_t local_index(std::uint64_t index, std::uint64_t block, std::uint64_t places) {
    return index / block / places * block + index % block;
}

}  // namespace

LocalPart local_part(const BlockCyclic& layout, int rank, const KernelMatrixShape& shape) {
    if (layout.grid_rows < 1 || layout.grid_columns < 1 || layout.block == 0 || rank < 0 ||
        rank / layout.grid_columns >= layout.grid_rows)
        throw Error(Errc::invalid_argument, "local_part: no such part (got rank " + std::to_string(rank) +
                                                " of a grid of " + std::to_string(layout.grid_rows) + " x " +
                                                std::to_string(layout.grid_columns) + " with blocks of " +
                                                std::to_string(layout.block) + " rows)");
    const auto part = [&](std::uint64_t length, int at, int places) {
        return local_length(length, layout.block, static_cast<std::uint64_t>(at),
                            static_cast<std::uint64_t>(places));
    };
    return {part(shape.samples, rank / layout.grid_columns, layout.grid_rows),
            part(shape.columns(), rank % layout.grid_columns, layout.grid_columns)};
}

std::array<int, 9> scalapack_descriptor(const BlockCyclic& layout, int rank, const KernelMatrixShape& shape,
                                        int context) {
    constexpr std::uint64_t kMost = std::numeric_limits<int>::max();
    if (shape.samples > kMost || shape.columns() > kMost || layout.block > kMost)
        throw Error(Errc::invalid_argument, "scalapack_descriptor: K is too large (got " +
                                                std::to_string(shape.samples) + " x " +
                                                std::to_string(shape.columns()) + ", need less than 2^31)");
    const auto number = [](std::uint64_t value) { return static_cast<int>(value); };
    constexpr int kDense = 1, kFirst = 0;
    // Where a rank has no row, ScaLAPACK wants a distance of 1.
    const int distance = number(std::max<std::uint64_t>(1, local_part(layout, rank, shape).rows));
    return {kDense,
            context,
            number(shape.samples),
            number(shape.columns()),
            number(layout.block),
            number(layout.block),
            kFirst,
            kFirst,
            distance};
}

LocalBlocks::LocalBlocks(const BlockCyclic& layout, int rank, const KernelMatrixShape& shape,
                         const HostArray& k, bool lower)
    : block_(layout.block),
      grid_rows_(static_cast<std::uint64_t>(layout.grid_rows)),
      grid_columns_(static_cast<std::uint64_t>(layout.grid_columns)),
      grid_row_(static_cast<std::uint64_t>(rank / layout.grid_columns)),
      grid_column_(static_cast<std::uint64_t>(rank % layout.grid_columns)),
      local_rows_(local_part(layout, rank, shape).rows),
      k_(k),
      lower_(lower) {}

bool LocalBlocks::has(std::uint64_t row, std::uint64_t column) const {
    const std::uint64_t of_row = row / block_, of_column = column / block_;
    return of_row % grid_rows_ == grid_row_ && of_column % grid_columns_ == grid_column_ &&
           (!lower_ || of_row >= of_column);
}

template <class Use>
void LocalBlocks::each_own(const kernels::KernelBlock& block, const Use& use) const {
    const std::uint64_t last_row = block.row + block.rows, last_column = block.column + block.columns;
    for (std::uint64_t row = block.row; row < last_row; row = (row / block_ + 1) * block_)
        for (std::uint64_t column = block.column; column < last_column;
             column = (column / block_ + 1) * block_)
            if (has(row, column))
                use(kernels::KernelBlock{row, std::min(last_row, (row / block_ + 1) * block_) - row, column,
                                         std::min(last_column, (column / block_ + 1) * block_) - column});
}

bool LocalBlocks::needs(const kernels::StoreTile& tile) const {
    bool found = false;
    const auto note = [&](const kernels::KernelBlock&) { found = true; };
    const kernels::KernelBlock& b = tile.block;
    each_own(b, note);
    if (tile.mirrored) each_own({b.column, b.columns, b.row, b.rows}, note);
    return found;
}

void LocalBlocks::put(const kernels::KernelBlock& block, const std::byte* values,
                      std::uint64_t leading) const {
    each_own(block, [&](const kernels::KernelBlock& part) {
        const std::uint64_t first = (part.row - block.row) * leading + (part.column - block.column);
        if (k_.type == kFloat64)
            copy(part, reinterpret_cast<const double*>(values) + first, leading);
        else
            copy(part, reinterpret_cast<const float*>(values) + first, leading);
    });
}

template <class Number>
void LocalBlocks::copy(const kernels::KernelBlock& part, const Number* from, std::uint64_t leading) const {
    Number* const to = static_cast<Number*>(k_.data) +
                       local_index(part.column, block_, grid_columns_) * local_rows_ +
                       local_index(part.row, block_, grid_rows_);
    // Rows become columns: in squares that the caches hold.
    constexpr std::uint64_t kSide = 32;
    for (std::uint64_t row = 0; row < part.rows; row += kSide)
        for (std::uint64_t column = 0; column < part.columns; column += kSide)
            for (std::uint64_t j = column; j < std::min(part.columns, column + kSide); ++j)
                for (std::uint64_t i = row; i < std::min(part.rows, row + kSide); ++i)
                    to[j * local_rows_ + i] = from[i * leading + j];
}

}  // namespace weft::mpi
