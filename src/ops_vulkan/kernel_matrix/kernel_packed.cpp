// SPDX-License-Identifier: Apache-2.0
#include "ops_vulkan/kernel_matrix/kernel_packed.hpp"

#include <algorithm>
#include <utility>

namespace weft::kernels {
namespace {

std::optional<Words> sums_of(KernelMemory& memory, const KernelMatrixPlan& plan) {
    const GramPlan& gram = plan.states.gram;
    if (gram.split == 1) return std::nullopt;
    return memory.words(gram.scratch_bytes / 4, "gram sums");
}

Words planes_of(KernelMemory& memory, const KernelMatrixPlan& plan, std::uint64_t rows) {
    return memory.words(PackedTile::words(plan, rows), "kernel packed states");
}

bool needs_factors(const KernelMatrixPlan& plan, const KernelMatrixOptions& options) {
    return options.normalize || plan.states.renormalize;
}

/// A chunk of rows, from `at` of them on.
void pack(Stream& stream, GramProduct& product, StateSource& source, Normalizer* normalizer,
          const StateRows& rows, const Words& planes, std::uint64_t at, std::uint64_t chunk) {
    source.pack(stream, {rows.of_y, rows.row + at, std::min(chunk, rows.count - at)}, {product, planes, at},
                normalizer);
}

}  // namespace

void PackedTile::fill(Stream& stream, GramProduct& product, StateSource& source, Normalizer* normalizer,
                      const StateRows& rows, std::uint64_t end) {
    if (held_ != rows) {
        hold(rows, normalizer);
        packed_ = 0;
    }
    const std::uint64_t chunk = plan_.states.chunk_rows;
    for (; rows.row + packed_ < end; packed_ += std::min(chunk, rows.count - packed_))
        pack(stream, product, source, normalizer, rows, planes_, packed_, chunk);
}

void PackedTile::hold(const StateRows& rows, Normalizer* normalizer) {
    held_ = rows;
    packed_ = rows.count;
    if (plan_.states.gram.problem.scaled) factors_ = normalizer->factors(rows.of_y, rows.row);
}

GramRows PackedTile::rows(std::uint64_t row, std::uint64_t count) const {
    GramRows rows{planes_, row - held_->row, count, factors_};
    if (rows.factors) rows.factors->first += rows.first;
    return rows;
}

PackedTiles::PackedTiles(Stream& stream, KernelMemory& memory, const KernelMatrixPlan& plan,
                         StateSource& source, const KernelMatrixOptions& options)
    : stream_(stream),
      plan_(plan),
      source_(&source),
      product_(stream, plan.states.gram, sums_of(memory, plan)) {
    rows_.emplace(planes_of(memory, plan, plan.shape.samples), plan);
    if (needs_columns(plan.shape, plan.states.tile))
        columns_.emplace(planes_of(memory, plan, plan.shape.columns()), plan);
    if (needs_factors(plan, options)) normalizer_.emplace(memory, plan, options);
}

PackedTiles::PackedTiles(Stream& stream, KernelMemory& memory, const KernelMatrixPlan& plan,
                         const PackedStates& states, const KernelMatrixOptions& options)
    : stream_(stream),
      plan_(plan),
      source_(nullptr),
      product_(stream, plan.states.gram, sums_of(memory, plan)) {
    if (states.factors) normalizer_.emplace(*states.factors, plan, options);
    Normalizer* const normalizer = normalizer_ ? &*normalizer_ : nullptr;
    rows_.emplace(states.x, plan);
    rows_->hold({false, 0, plan.shape.samples}, normalizer);
    if (!states.y) return;
    columns_.emplace(*states.y, plan);
    columns_->hold({true, 0, plan.shape.others}, normalizer);
}

void PackedTiles::fill(PackedSide side, const StateRows& rows, std::uint64_t end) {
    if (source_ == nullptr) return;
    (side == PackedSide::rows ? rows_ : columns_)
        ->fill(stream_, product_, *source_, normalizer_ ? &*normalizer_ : nullptr, rows, end);
}

PackedStates pack_all(Stream& stream, KernelMemory& memory, const KernelMatrixPlan& plan, StateSource& source,
                      const KernelMatrixOptions& options) {
    PackedStates packed{planes_of(memory, plan, plan.shape.samples), {}, {}};
    if (!plan.shape.square()) packed.y = planes_of(memory, plan, plan.shape.others);
    std::optional<Normalizer> normalizer;
    if (needs_factors(plan, options)) {
        packed.factors = memory.words(Normalizer::words(plan), "kernel factors");
        normalizer.emplace(*packed.factors, plan, options);
    }
    Normalizer* const norms = normalizer ? &*normalizer : nullptr;
    GramProduct product(stream, plan.states.gram, sums_of(memory, plan));
    const std::uint64_t chunk = plan.states.chunk_rows;
    const auto pack_side = [&](const StateRows& rows, const Words& planes) {
        for (std::uint64_t at = 0; at < rows.count; at += chunk)
            pack(stream, product, source, norms, rows, planes, at, chunk);
    };
    pack_side({false, 0, plan.shape.samples}, packed.x);
    if (packed.y) pack_side({true, 0, plan.shape.others}, *packed.y);
    return packed;
}

}  // namespace weft::kernels
