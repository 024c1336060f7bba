// SPDX-License-Identifier: Apache-2.0
// Tiles of packed states in CUDA device memory, and the product that multiplies pairs of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "cuda/scratch.hpp"
#include "ops/kernel_matrix/kernel_plan.hpp"
#include "ops_cuda/kernel_matrix/gram.hpp"
#include "ops_cuda/kernel_matrix/kernel_states.hpp"

namespace weft::cuda {

/// Factors of all rows of X and Y that divide K by their norms: in a pass of its own, as
/// KernelMatrixOptions::normalize asks, or within products, only to take out what rounding did to states that
/// were built.
class Normalizer {
  public:
    /// `factors`: bytes() of memory.
    Normalizer(StreamHandle stream, const kernels::KernelMatrixPlan& plan, const KernelMatrixOptions& options,
               std::byte* factors)
        : stream_(stream), plan_(plan), options_(options), factors_(factors) {}
    static bool needed(const kernels::KernelMatrixPlan& plan, const KernelMatrixOptions& options) noexcept {
        return options.normalize || plan.states.renormalize;
    }
    static std::uint64_t bytes(const kernels::KernelMatrixPlan& plan) noexcept {
        return (plan.shape.samples + plan.shape.others) * plan.real_bytes();
    }

    void take(const std::byte* states, const kernels::StateRows& rows) const;
    const std::byte* factors() const noexcept { return factors_; }
    /// Divides a block of K, if a pass of its own does that. Its first value is at `k`, and its rows are
    /// `leading` values apart. `turned`: rows of the block are columns of K of X with Y.
    void scale(std::byte* k, const kernels::KernelBlock& block, std::uint64_t leading,
               bool turned = false) const;

  private:
    StreamHandle stream_;
    const kernels::KernelMatrixPlan& plan_;
    const KernelMatrixOptions options_;
    std::byte* factors_;
};

/// Packed states of one side, a tile of them at a time.
class PackedTile {
  public:
    PackedTile(StreamHandle stream, const kernels::KernelMatrixPlan& plan, std::uint64_t most_rows);
    /// States [rows.row, rows.row + rows.count) lie there.
    PackedTile(const kernels::KernelMatrixPlan& plan, std::byte* planes, const kernels::StateRows& rows)
        : plan_(plan), planes_(planes), held_(rows), packed_(rows.count) {}
    static std::uint64_t bytes(const kernels::KernelMatrixPlan& plan, std::uint64_t rows) {
        return plan.states.gram.packed_bytes(std::min(plan.states.tile, rows));
    }

    /// Has these rows in place of those before, packed up to row `end` of the side at least. A device that
    /// makes a part of K needs only a part of the states.
    void fill(StateSource& source, const GramProduct& product, const Normalizer* normalizer,
              const kernels::StateRows& rows, std::uint64_t end);
    /// Packed rows from `row` of the side on.
    GramRows rows(std::uint64_t row, std::uint64_t count) const {
        return {planes_, row - held_->row, count, (held_->of_y ? plan_.others_at : 0) + row};
    }

  private:
    const kernels::KernelMatrixPlan& plan_;
    Scratch memory_;
    std::byte* planes_;
    std::optional<kernels::StateRows> held_;
    std::uint64_t packed_ = 0;  // rows of them
};

/// All states of a plan with StatePlan::bulk, packed: PackedTile::bytes() of X and of Y, and
/// Normalizer::bytes() where factors are needed.
struct PackedStates {
    std::byte *x = nullptr, *y = nullptr, *factors = nullptr;
};

/// Packed tiles of both sides, and the product that multiplies pairs of them. All arguments but the options
/// must outlive it.
class PackedTiles {
  public:
    /// Tiles that are packed when they are needed.
    PackedTiles(StreamHandle stream, const kernels::KernelMatrixPlan& plan, StateSource& source,
                const KernelMatrixOptions& options);
    /// States that lie there.
    PackedTiles(StreamHandle stream, const kernels::KernelMatrixPlan& plan, const PackedStates& states,
                const KernelMatrixOptions& options);

    /// Has a tile of a side, packed up to row `end` at least.
    void fill(kernels::PackedSide side, const kernels::StateRows& rows, std::uint64_t end);
    /// Has the tiles of a block.
    void fill(const kernels::HostBlock& block) {
        const kernels::KernelBlock& b = block.block;
        const std::uint64_t down = b.row + b.rows, across = b.column + b.columns;
        fill(kernels::PackedSide::rows, block.x, block.own ? std::max(down, across) : down);
        if (!block.own) fill(kernels::PackedSide::columns, block.y, across);
    }
    /// Makes a block from the tiles that are packed. `own`: it lies in one tile of a square K.
    void multiply(const kernels::KernelBlock& block, bool own, const GramTarget& target) const;
    /// Calls work(rows, columns) with the tiles of a block.
    template <class Work>
    void with(const kernels::HostBlock& block, const Work& work) {
        fill(block);
        work(*rows_, block.own ? *rows_ : *columns_);
    }
    const GramProduct& product() const { return *product_; }
    /// Divides values of K by norms, if that is asked for.
    void scale(std::byte* k, const kernels::KernelBlock& block, std::uint64_t leading,
               bool turned = false) const {
        if (normalizer_) normalizer_->scale(k, block, leading, turned);
    }

  private:
    const kernels::KernelMatrixPlan& plan_;
    StateSource* source_;  // null: all states are packed
    Scratch factors_;
    std::optional<Normalizer> normalizer_;
    std::optional<GramProduct> product_;
    std::optional<PackedTile> rows_, columns_;
};

/// Packs all states of a plan with StatePlan::bulk.
void pack_all(StreamHandle stream, const kernels::KernelMatrixPlan& plan, StateSource& source,
              const KernelMatrixOptions& options, const PackedStates& to);

}  // namespace weft::cuda
