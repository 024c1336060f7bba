// SPDX-License-Identifier: Apache-2.0
// Puts blocks of K where a block-cyclic layout has them. Pure.
#pragma once

#include <cstddef>
#include <cstdint>

#include <weft/mpi/block_cyclic.hpp>

#include "ops/kernel_matrix/store_tiles.hpp"

namespace weft::mpi {

/// The blocks of K that are a rank's, in its memory.
class LocalBlocks {
  public:
    /// `k` is the part of that rank. `lower`: without blocks above the diagonal.
    LocalBlocks(const BlockCyclic& layout, int rank, const KernelMatrixShape& shape, const HostArray& k,
                bool lower);

    /// Whether the rank has values of this tile.
    bool needs(const kernels::StoreTile& tile) const;
    /// Copies those of the values that are the rank's. Rows of `values` are `leading` values apart.
    void put(const kernels::KernelBlock& block, const std::byte* values, std::uint64_t leading) const;

  private:
    bool has(std::uint64_t row, std::uint64_t column) const;  // the block with this value
    /// Calls use(part) with the parts of a block that each lie in one block of the layout that is the rank's.
    template <class Use>
    void each_own(const kernels::KernelBlock& block, const Use& use) const;
    template <class Number>
    void copy(const kernels::KernelBlock& part, const Number* from, std::uint64_t leading) const;

    std::uint64_t block_, grid_rows_, grid_columns_, grid_row_, grid_column_;
    std::uint64_t local_rows_;
    HostArray k_;
    bool lower_;
};

}  // namespace weft::mpi
