// SPDX-License-Identifier: Apache-2.0
#include "ops_cuda/kernel_matrix/kernel_packed.hpp"

#include <algorithm>

#include "cuda/check.hpp"
#include "ops_cuda/kernel_matrix/kernel_launch.hpp"

namespace weft::cuda {
namespace {

using kernels::KernelBlock;
using kernels::KernelMatrixPlan;
using kernels::PackedSide;
using kernels::StateRows;
using kernels::word;

constexpr const char* kFunction = "kernel_matrix";

/// A chunk of rows, from `at` of them on.
void pack(StateSource& source, const GramProduct& product, const Normalizer* normalizer,
          const StateRows& rows, std::byte* planes, std::uint64_t at, std::uint64_t chunk) {
    const StateRows some{rows.of_y, rows.row + at, std::min(chunk, rows.count - at)};
    const std::byte* const states = source.rows(some);
    if (normalizer != nullptr) normalizer->take(states, some);
    product.pack(states, some.count, planes, at);
}

}  // namespace

void Normalizer::take(const std::byte* states, const StateRows& rows) const {
    const NormsLaunch launch{
        .stream = stream_,
        .widened = plan_.states.gram.problem.widened,
        .count = word(rows.count),
        .p = kernels::norm_parameters(plan_, options_, rows, std::uint64_t{1} << plan_.shape.qubits),
        .states = states,
        .factors = factors_};
    check_launch(plan_.real64 ? launch_kernel_norms_real64(launch) : launch_kernel_norms_real32(launch),
                 kFunction);
}

void Normalizer::scale(std::byte* k, const KernelBlock& block, std::uint64_t leading, bool turned) const {
    if (!options_.normalize) return;
    const std::uint64_t most = std::max<std::uint64_t>(1, (1u << 30) / leading);
    for (std::uint64_t at = 0; at < block.rows; at += most) {
        const KernelBlock part{block.row + at, std::min(most, block.rows - at), block.column, block.columns};
        ScaleLaunch launch{.stream = stream_,
                           .wide_values = plan_.type == kFloat64,
                           .count = word(part.rows * part.columns),
                           .p = kernels::scale_parameters(plan_, options_, part, leading),
                           .factors = factors_,
                           .values = k + at * leading * plan_.value_bytes()};
        if (turned) {
            launch.p.row_base = word(plan_.others_at + part.row);
            launch.p.column_base = word(part.column);
        }
        check_launch(plan_.real64 ? launch_kernel_scale_real64(launch) : launch_kernel_scale_real32(launch),
                     kFunction);
    }
}

PackedTile::PackedTile(StreamHandle stream, const KernelMatrixPlan& plan, std::uint64_t most_rows)
    : plan_(plan),
      memory_(stream, bytes(plan, most_rows), kFunction, "packed states"),
      planes_(memory_.as<std::byte>()) {}

void PackedTile::fill(StateSource& source, const GramProduct& product, const Normalizer* normalizer,
                      const StateRows& rows, std::uint64_t end) {
    if (held_ != rows) {
        held_ = rows;
        packed_ = 0;
    }
    const std::uint64_t chunk = plan_.states.chunk_rows;
    for (; rows.row + packed_ < end; packed_ += std::min(chunk, rows.count - packed_))
        pack(source, product, normalizer, rows, planes_, packed_, chunk);
}

PackedTiles::PackedTiles(StreamHandle stream, const KernelMatrixPlan& plan, StateSource& source,
                         const KernelMatrixOptions& options)
    : plan_(plan), source_(&source) {
    if (Normalizer::needed(plan, options)) {
        factors_ = Scratch(stream, Normalizer::bytes(plan), kFunction, "factors");
        normalizer_.emplace(stream, plan, options, factors_.as<std::byte>());
    }
    product_.emplace(stream, plan.states.gram, normalizer_ ? normalizer_->factors() : nullptr);
    rows_.emplace(stream, plan, plan.shape.samples);
    if (kernels::needs_columns(plan.shape, plan.states.tile))
        columns_.emplace(stream, plan, plan.shape.columns());
}

PackedTiles::PackedTiles(StreamHandle stream, const KernelMatrixPlan& plan, const PackedStates& states,
                         const KernelMatrixOptions& options)
    : plan_(plan), source_(nullptr) {
    if (states.factors != nullptr) normalizer_.emplace(stream, plan, options, states.factors);
    product_.emplace(stream, plan.states.gram, states.factors);
    rows_.emplace(plan, states.x, StateRows{false, 0, plan.shape.samples});
    if (states.y != nullptr) columns_.emplace(plan, states.y, StateRows{true, 0, plan.shape.others});
}

void PackedTiles::fill(PackedSide side, const StateRows& rows, std::uint64_t end) {
    if (source_ == nullptr) return;
    (side == PackedSide::rows ? rows_ : columns_)
        ->fill(*source_, *product_, normalizer_ ? &*normalizer_ : nullptr, rows, end);
}

void PackedTiles::multiply(const KernelBlock& block, bool own, const GramTarget& target) const {
    const PackedTile& columns = own ? *rows_ : *columns_;
    const GramRows x = rows_->rows(block.row, block.rows);
    if (target.place.mirror || !plan_.shape.square())
        product_->multiply(x, columns.rows(block.column, block.columns), target);
    else
        product_->square(x, target);
}

void pack_all(StreamHandle stream, const KernelMatrixPlan& plan, StateSource& source,
              const KernelMatrixOptions& options, const PackedStates& to) {
    const std::optional<Normalizer> normalizer =
        to.factors != nullptr ? std::optional<Normalizer>(std::in_place, stream, plan, options, to.factors)
                              : std::nullopt;
    const GramProduct product(stream, plan.states.gram, to.factors);
    const Normalizer* const norms = normalizer ? &*normalizer : nullptr;
    const std::uint64_t chunk = plan.states.chunk_rows;
    const auto pack_side = [&](const StateRows& rows, std::byte* planes) {
        for (std::uint64_t at = 0; at < rows.count; at += chunk)
            pack(source, product, norms, rows, planes, at, chunk);
    };
    pack_side({false, 0, plan.shape.samples}, to.x);
    if (to.y != nullptr) pack_side({true, 0, plan.shape.others}, to.y);
}

}  // namespace weft::cuda
