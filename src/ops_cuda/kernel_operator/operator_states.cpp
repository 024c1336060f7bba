// SPDX-License-Identifier: Apache-2.0
// Also completes operator_apply.hpp: products, rows and the diagonal of operators of states.
#include "ops_cuda/kernel_operator/operator_states.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "cuda/check.hpp"
#include "ops_cuda/kernel_operator/operator_apply.hpp"
#include "ops_cuda/kernel_operator/operator_launch.hpp"

namespace weft::cuda {
namespace {

using kernels::divide_up;
using kernels::KernelBlock;
using kernels::KernelMatrixPlan;
using kernels::OperatorBlock;
using kernels::OperatorPlan;
using kernels::SumFactors;
using kernels::word;

constexpr const char* kFunction = "kernel_apply";

KernelMatrixOptions options_of(const OperatorPlan& plan) {
    return kernels::matrix_options(plan.options, plan.states->given);
}

void pack_into(DeviceStates& made, StreamHandle stream, const KernelMatrixPlan& plan, StateSource& source,
               const KernelMatrixOptions& options) {
    made.x = DeviceMemory(PackedTile::bytes(plan, plan.shape.samples));
    if (!plan.shape.square()) made.y = DeviceMemory(PackedTile::bytes(plan, plan.shape.others));
    if (Normalizer::needed(plan, options)) made.factors = DeviceMemory(Normalizer::bytes(plan));
    pack_all(stream, plan, source, options, made.packed());
}

void put_words(double value, bool real64, std::uint32_t& low, std::uint32_t& high) {
    const auto words = kernels::real_words(value, real64);
    low = words[0];
    high = words[1];
}

void launch_block(const OperatorPlan& plan, const OperatorBlockLaunch& launch, const char* function) {
    check_launch(plan.real64 ? launch_operator_block_real64(launch) : launch_operator_block_real32(launch),
                 function);
}

}  // namespace

std::vector<std::span<const std::byte>> DeviceStates::ranges(const OperatorPlan& plan) const {
    const KernelMatrixPlan& matrix = plan.states->matrix;
    std::vector<std::span<const std::byte>> all;
    const auto add = [&](const DeviceMemory& memory, std::uint64_t bytes) {
        if (memory.data() != nullptr) all.emplace_back(memory.data(), bytes);
    };
    add(x, PackedTile::bytes(matrix, plan.shape.samples));
    add(y, PackedTile::bytes(matrix, plan.shape.others));
    add(factors, Normalizer::bytes(matrix));
    if (planes.data() == nullptr) return all;
    // What lies between planes has no defined values.
    for (std::uint64_t plane = 0; plane < 2 * plan.shape.qubits; ++plane)
        all.emplace_back(planes.data() + plane * matrix.stride * matrix.real_bytes(),
                         (plan.shape.samples + plan.shape.others) * matrix.real_bytes());
    return all;
}

std::shared_ptr<const DeviceStates> make_states(StreamHandle stream, const OperatorPlan& plan,
                                                const KernelMatrixCircuit* circuit, const ConstDeviceArray& x,
                                                const ConstDeviceArray* y) {
    const KernelMatrixPlan& matrix = plan.states->matrix;
    const KernelMatrixOptions options = options_of(plan);
    auto made = std::make_shared<DeviceStates>();
    if (circuit == nullptr) {
        GivenStates source(matrix, x, y);
        pack_into(*made, stream, matrix, source, options);
        return made;
    }
    if (matrix.states.bulk) {
        CircuitStates source(stream, matrix, *circuit, angle_planes(stream, matrix, x, y, circuit->scale));
        pack_into(*made, stream, matrix, source, options);
        return made;
    }
    made->planes = DeviceMemory(matrix.planes_values() * matrix.real_bytes());
    fill_angle_planes(stream, matrix, x, y, circuit->scale, made->planes.data());
    made->weights = kernels::weights_of(*circuit);
    made->circuit = *circuit;
    made->circuit.weights = ConstHostArray(made->weights);
    return made;
}

std::shared_ptr<const DeviceStates> make_states(StreamHandle stream, const OperatorPlan& plan,
                                                const ConstHostArray& x, const ConstHostArray* y) {
    auto made = std::make_shared<DeviceStates>();
    HostStates source(stream, plan.states->matrix, x, y);
    pack_into(*made, stream, plan.states->matrix, source, options_of(plan));
    return made;
}

BlockMaker::BlockMaker(StreamHandle stream, const OperatorPlan& plan, const DeviceStates& states)
    : plan_(plan),
      values_(stream,
              (kernels::halves_blocks(plan) ? 2 : 1) * plan.states->block * plan.states->block *
                  plan.real_bytes(),
              kFunction, "a block of K") {
    const KernelMatrixPlan& matrix = plan.states->matrix;
    if (states.planes.data() == nullptr) {
        tiles_.emplace(stream, matrix, states.packed(), options_of(plan));
        return;
    }
    source_.emplace(stream, matrix, states.circuit, static_cast<const void*>(states.planes.data()));
    tiles_.emplace(stream, matrix, *source_, options_of(plan));
}

void BlockMaker::make(const OperatorBlock& block, bool turned) {
    const KernelBlock& b = block.tiles.block;
    auto* const to = values_.as<std::byte>();
    const GramTarget target{to, {leading(), 0, block.mirrored, image_origin()}};
    tiles_->with(block.tiles, [&](const PackedTile& x, const PackedTile& y) {
        const GramRows rows = x.rows(b.row, b.rows);
        const bool own = plan_.shape.square() && b.row == b.column && b.rows == b.columns;
        if (own) return tiles_->product().square(rows, target);
        const GramRows columns = y.rows(b.column, b.columns);
        tiles_->product().multiply(turned ? columns : rows, turned ? rows : columns, target);
    });
    const KernelBlock across{b.column, b.columns, b.row, b.rows};
    tiles_->scale(to, turned ? across : b, leading(), turned);
    if (block.mirrored) tiles_->scale(to + image_origin() * plan_.real_bytes(), across, leading());
}

/// The rows of V and of the result that a block meets.
struct OperatorApplyCall::BlockPlace {
    std::uint64_t origin;  ///< of its values
    std::uint64_t row, rows, column, columns;
};

void OperatorApplyCall::add_block(StreamHandle stream, const BlockMaker& maker, const std::byte* v,
                                  std::byte* out, const BlockPlace& place, const SumFactors& factors) const {
    constexpr std::uint32_t kMostWidth = 16;
    constexpr std::uint64_t kRows = 32;  // of a workgroup
    const std::uint64_t unit = plan_.real_bytes();
    OperatorBlockLaunch launch{.stream = stream,
                               .count = word(divide_up(place.rows, kRows)),
                               .block = maker.values() + place.origin * unit,
                               .v = v + place.column * columns_ * unit,
                               .result = out};
    shared::OperatorBlockParameters& p = launch.p;
    p.rows = word(place.rows);
    p.columns = word(place.columns);
    p.leading = word(maker.leading());
    p.width = columns_;
    p.diagonal = word(place.row - place.column);
    p.with_v = factors.delta != 0 ? 1u : 0u;
    p.with_out = factors.beta != 0 ? 1u : 0u;
    put_words(factors.alpha, plan_.real64, p.alpha_low, p.alpha_high);
    put_words(factors.delta, plan_.real64, p.delta_low, p.delta_high);
    put_words(factors.beta, plan_.real64, p.beta_low, p.beta_high);
    for (std::uint32_t first = 0; first < columns_; first += launch.width) {
        launch.width = std::min(kMostWidth, std::bit_floor(columns_ - first));
        p.in_base = p.out_base = first;
        launch_block(plan_, launch, kFunction);
    }
}

void OperatorApplyCall::launch_states(StreamHandle stream, const std::byte* v, std::byte* out,
                                      const kernels::ApplyRows& rows, const BandDone& done) const {
    BlockMaker maker(stream, plan_, *samples_.states);
    const double delta = side_.square ? options_.a * options_.lambda : 0;
    const std::uint64_t row_bytes = columns_ * plan_.real_bytes();
    std::map<std::uint64_t, bool> added;  // by the first row of a block
    const auto add = [&](const BlockPlace& place) {
        const bool first = !std::exchange(added[place.row], true);
        add_block(stream, maker, v, out + (place.row - rows.first) * row_bytes, place,
                  {options_.a, delta, first ? options_.b : 1});
    };
    for (const OperatorBlock& block : blocks_of(rows)) {
        const KernelBlock& b = block.tiles.block;
        maker.make(block, turned_);
        if (turned_)
            add({0, b.column, b.columns, b.row, b.rows});
        else
            add({0, b.row, b.rows, b.column, b.columns});
        if (block.mirrored) add({maker.image_origin(), b.column, b.columns, b.row, b.rows});
        done(kernels::pairs_of(plan_, block));
    }
}

void OperatorApplyCall::launch_states(StreamHandle stream, const std::byte* v, const ApplyTotals& totals,
                                      const kernels::PairShare& share, const BandDone& done) const {
    BlockMaker maker(stream, plan_, *samples_.states);
    const Scratch sums(stream, maker.leading() * columns_ * plan_.real_bytes(), kFunction, "operator sums");
    const auto add = [&](const BlockPlace& place) {
        add_block(stream, maker, v, sums.as<std::byte>(), place, {});
        add_to_totals(stream, totals, 0, columns_, place.row, place.rows, sums.data(), {1, 0, columns_});
    };
    for (const OperatorBlock& block : blocks_of(share)) {
        const KernelBlock& b = block.tiles.block;
        maker.make(block, false);
        add({0, b.row, b.rows, b.column, b.columns});
        if (block.mirrored) add({maker.image_origin(), b.column, b.columns, b.row, b.rows});
        done(kernels::pairs_of(plan_, block));
    }
}

// Packed states begin at multiples of 64 rows, so as many are multiplied even for a single one.
void launch_state_rows(StreamHandle stream, const DeviceSamples& samples,
                       const std::vector<std::uint32_t>& rows, const DeviceArray& out) {
    constexpr std::uint64_t kRows = 64;
    const OperatorPlan& plan = samples.plan;
    BlockMaker maker(stream, plan, *samples.states);
    std::map<std::uint64_t, std::vector<std::uint64_t>> places;  // in the list, by 64 rows
    for (std::uint64_t i = 0; i < rows.size(); ++i) places[rows[i] / kRows].push_back(i);
    const std::uint64_t unit = plan.real_bytes(), all = plan.shape.columns();
    auto* const to = static_cast<std::byte*>(out.data);
    for (const auto& [panel, wanted] : places) {
        const std::uint64_t row = panel * kRows, end = std::min(plan.shape.samples, row + kRows);
        for (const OperatorBlock& block : kernels::operator_blocks(plan, row, end, false, false)) {
            const KernelBlock& b = block.tiles.block;
            maker.make(block, false);
            for (const std::uint64_t i : wanted)
                copy(stream, to + (i * all + b.column) * unit,
                     maker.values() + (rows[i] - row) * maker.leading() * unit, b.columns * unit,
                     cudaMemcpyDeviceToDevice, "kernel_rows");
        }
    }
}

void launch_state_diagonal(StreamHandle stream, const DeviceSamples& samples, const DeviceArray& out) {
    constexpr std::uint64_t kRows = 512;
    const OperatorPlan& plan = samples.plan;
    BlockMaker maker(stream, plan, *samples.states);
    const std::uint64_t all = plan.shape.samples, tile = plan.states->matrix.states.tile;
    for (std::uint64_t row = 0; row < all;) {
        const std::uint64_t first = row / tile * tile, end = std::min(all, first + tile);
        const std::uint64_t some = std::min({kRows, plan.states->block, end - row});
        const kernels::StateRows states{false, first, end - first};
        maker.make({{states, states, true, {row, some, row, some}}, false}, false);
        OperatorBlockLaunch launch{.stream = stream,
                                   .diagonal = true,
                                   .count = word(some),
                                   .block = maker.values(),
                                   .v = maker.values(),
                                   .result = static_cast<std::byte*>(out.data) + row * plan.real_bytes()};
        launch.p.rows = word(some);
        launch.p.leading = word(maker.leading());
        launch_block(plan, launch, "kernel_diagonal");
        row += some;
    }
}

}  // namespace weft::cuda
