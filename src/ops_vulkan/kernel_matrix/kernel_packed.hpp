// SPDX-License-Identifier: Apache-2.0
// Tiles of packed states, and the product that multiplies pairs of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "ops/kernel_matrix/kernel_plan.hpp"
#include "ops_vulkan/kernel_matrix/kernel_states.hpp"

namespace weft::kernels {

/// A tile of packed states of one side.
class PackedTile {
  public:
    PackedTile(Words planes, const KernelMatrixPlan& plan) : plan_(plan), planes_(std::move(planes)) {}
    /// Words of a tile of a side of that many rows.
    static std::uint64_t words(const KernelMatrixPlan& plan, std::uint64_t rows) {
        return plan.states.gram.packed_bytes(std::min(plan.states.tile, rows)) / 4;
    }

    /// Has these rows in place of those before, packed up to row `end` of the side at least. A device that
    /// makes a part of K needs only a part of the states.
    void fill(Stream& stream, GramProduct& product, StateSource& source, Normalizer* normalizer,
              const StateRows& rows, std::uint64_t end);
    /// These rows lie there, and their norms are known.
    void hold(const StateRows& rows, Normalizer* normalizer);
    /// Packed rows from `row` of the side on.
    GramRows rows(std::uint64_t row, std::uint64_t count) const;

  private:
    const KernelMatrixPlan& plan_;
    Words planes_;
    std::optional<StateRows> held_;
    std::uint64_t packed_ = 0;  // rows of them
    std::optional<GramFactors> factors_;
};

/// All states of a plan with StatePlan::bulk, packed.
struct PackedStates {
    Words x;
    std::optional<Words> y;        ///< of K of X with Y
    std::optional<Words> factors;  ///< as the plan and the options ask for them
};

/// Packed tiles of both sides.
class PackedTiles {
  public:
    /// Tiles that are packed when they are needed.
    PackedTiles(Stream& stream, KernelMemory& memory, const KernelMatrixPlan& plan, StateSource& source,
                const KernelMatrixOptions& options);
    /// States that lie there.
    PackedTiles(Stream& stream, KernelMemory& memory, const KernelMatrixPlan& plan,
                const PackedStates& states, const KernelMatrixOptions& options);

    /// Calls work(rows, columns, block). Both are the same tile if the block is on the diagonal of a square
    /// K.
    template <class Work>
    void each(const Work& work) {
        each_tile_pair(
            plan_.shape, plan_.states.tile,
            [&](PackedSide side, const StateRows& rows) { fill(side, rows, rows.row + rows.count); },
            [&](const KernelBlock& block, bool own) { work(*rows_, own ? *rows_ : *columns_, block); });
    }
    /// Calls work(rows, columns) with the tiles of a block.
    template <class Work>
    void with(const HostBlock& block, const Work& work) {
        const KernelBlock& b = block.block;
        const std::uint64_t down = b.row + b.rows, across = b.column + b.columns;
        fill(PackedSide::rows, block.x, block.own ? std::max(down, across) : down);
        if (!block.own) fill(PackedSide::columns, block.y, across);
        work(*rows_, block.own ? *rows_ : *columns_);
    }

    GramProduct& product() { return product_; }
    /// What K is divided by in a pass of its own; null: nothing.
    Normalizer* scaler() { return normalizer_ && normalizer_->scales() ? &*normalizer_ : nullptr; }

  private:
    void fill(PackedSide side, const StateRows& rows, std::uint64_t end);

    Stream& stream_;
    const KernelMatrixPlan& plan_;
    StateSource* source_;  // null: all states are packed
    GramProduct product_;
    std::optional<PackedTile> rows_, columns_;
    std::optional<Normalizer> normalizer_;
};

/// Packs all states of a plan with StatePlan::bulk into memory that belongs to nobody else.
PackedStates pack_all(Stream& stream, KernelMemory& memory, const KernelMatrixPlan& plan, StateSource& source,
                      const KernelMatrixOptions& options);

}  // namespace weft::kernels
