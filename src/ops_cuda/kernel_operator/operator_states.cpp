// SPDX-License-Identifier: Apache-2.0
// Also completes operator_apply.hpp: products, rows and the diagonal of operators of states.
#include "ops_cuda/kernel_operator/operator_states.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "cuda/check.hpp"
#include "ops_cuda/kernel_operator/operator_apply.hpp"
#include "ops_cuda/kernel_operator/operator_launch.hpp"

namespace weft::cuda {
namespace {

using kernels::block_steps;
using kernels::BlockPlace;
using kernels::BlockStep;
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

void OperatorApplyCall::add_block(StreamHandle stream, const BlockMaker& maker, const std::byte* v,
                                  std::byte* out, const kernels::BlockPlace& place,
                                  const SumFactors& factors) const {
    constexpr std::uint32_t kMostWidth = 16;
    constexpr std::uint64_t kRows = 32;  // of a workgroup
    const std::uint64_t unit = plan_.real_bytes();
    OperatorBlockLaunch launch{.stream = stream,
                               .count = word(divide_up(place.rows, kRows)),
                               .block = maker.values() + place.origin * unit,
                               .v = v + place.column * columns_ * unit,
                               .result = out};
    launch.p = kernels::block_parameters(plan_, place, maker.leading(), columns_, factors);
    for (std::uint32_t first = 0; first < columns_; first += launch.width) {
        launch.width = std::min(kMostWidth, std::bit_floor(columns_ - first));
        launch.p.in_base = launch.p.out_base = first;
        launch_block(plan_, launch, kFunction);
    }
}

void OperatorApplyCall::launch_states(StreamHandle stream, const std::byte* v, std::byte* out,
                                      const kernels::ApplyRows& rows, const BandDone& done) const {
    BlockMaker maker(stream, plan_, *samples_.states);
    const double delta = side_.square ? options_.a * options_.lambda : 0;
    const std::uint64_t row_bytes = columns_ * plan_.real_bytes();
    for (const BlockStep& step : block_steps(blocks_of(rows), turned_, maker.image_origin())) {
        maker.make(step.block, turned_);
        for (const BlockPlace& place : step.places)
            add_block(stream, maker, v, out + (place.row - rows.first) * row_bytes, place,
                      {options_.a, delta, place.first ? options_.b : 1});
        done(kernels::pairs_of(plan_, step.block));
    }
}

void OperatorApplyCall::launch_states(StreamHandle stream, const std::byte* v, const ApplyTotals& totals,
                                      const kernels::PairShare& share, const BandDone& done) const {
    BlockMaker maker(stream, plan_, *samples_.states);
    const Scratch sums(stream, maker.leading() * columns_ * plan_.real_bytes(), kFunction, "operator sums");
    for (const BlockStep& step : block_steps(blocks_of(share), false, maker.image_origin())) {
        maker.make(step.block, false);
        for (const BlockPlace& place : step.places) {
            add_block(stream, maker, v, sums.as<std::byte>(), place, {});
            add_to_totals(stream, totals, 0, columns_, place.row, place.rows, sums.data(), {1, 0, columns_});
        }
        done(kernels::pairs_of(plan_, step.block));
    }
}

void launch_state_rows(StreamHandle stream, const DeviceSamples& samples,
                       const std::vector<std::uint32_t>& rows, const DeviceArray& out,
                       const kernels::PairsDone& done) {
    const OperatorPlan& plan = samples.plan;
    BlockMaker maker(stream, plan, *samples.states);
    const std::uint64_t unit = plan.real_bytes(), all = plan.shape.columns();
    auto* const to = static_cast<std::byte*>(out.data);
    for (const kernels::RowPanel& panel : kernels::row_panels(plan, rows)) {
        const auto [row, end] = panel.rows;
        for (const OperatorBlock& block : kernels::operator_blocks(plan, row, end, false, false)) {
            const KernelBlock& b = block.tiles.block;
            maker.make(block, false);
            for (const std::size_t i : panel.places)
                copy(stream, to + (i * all + b.column) * unit,
                     maker.values() + (rows[i] - row) * maker.leading() * unit, b.columns * unit,
                     cudaMemcpyDeviceToDevice, "kernel_rows");
            done(panel.places.size() * b.columns);
        }
    }
}

void launch_state_diagonal(StreamHandle stream, const DeviceSamples& samples, const DeviceArray& out,
                           const kernels::PairsDone& done) {
    constexpr std::uint64_t kRows = 512;
    const OperatorPlan& plan = samples.plan;
    BlockMaker maker(stream, plan, *samples.states);
    for (const OperatorBlock& block : kernels::diagonal_blocks(plan, kRows)) {
        const std::uint64_t row = block.tiles.block.row, rows = block.tiles.block.rows;
        maker.make(block, false);
        OperatorBlockLaunch launch{.stream = stream,
                                   .diagonal = true,
                                   .count = word(rows),
                                   .block = maker.values(),
                                   .v = maker.values(),
                                   .result = static_cast<std::byte*>(out.data) + row * plan.real_bytes()};
        launch.p.rows = word(rows);
        launch.p.leading = word(maker.leading());
        launch_block(plan, launch, "kernel_diagonal");
        done(rows);
    }
}

}  // namespace weft::cuda
