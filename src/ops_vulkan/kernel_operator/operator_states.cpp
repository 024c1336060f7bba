// SPDX-License-Identifier: Apache-2.0
#include "ops_vulkan/kernel_operator/operator_states.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "ops/kernel_operator/operator_call.hpp"
#include "ops_vulkan/kernel_operator/operator_apply.hpp"
#include "shaders/operator.spv.hpp"

namespace weft::kernels {
namespace {

using ShaderWords = std::span<const std::uint32_t>;

ResidentStates source_of(KernelMemory&, const KernelMatrixPlan& plan, const ConstDeviceArray& x,
                         const ConstDeviceArray* y) {
    return {plan, x, y};
}
HostStates source_of(KernelMemory& memory, const KernelMatrixPlan& plan, const ConstHostArray& x,
                     const ConstHostArray* y) {
    return {memory, plan, x, y};
}

template <class Array>
std::shared_ptr<const DeviceStates> states_of(Stream& stream, const OperatorPlan& plan,
                                              const KernelMatrixCircuit* circuit, const Array& x,
                                              const Array* y) {
    check_operator_fits(plan);
    const KernelMatrixPlan& matrix = plan.states->matrix;
    const KernelMatrixOptions options = matrix_options(plan.options, plan.states->given);
    const auto made = std::make_shared<DeviceStates>();
    KernelMemory memory(stream);
    if (circuit == nullptr) {
        auto source = source_of(memory, matrix, x, y);
        made->packed = pack_all(stream, memory, matrix, source, options);
        return made;
    }
    const Words planes = angle_planes(stream, memory, matrix, x, y, circuit->scale);
    if (matrix.states.bulk) {
        CircuitStates source(stream, memory, matrix, *circuit, planes);
        made->packed = pack_all(stream, memory, matrix, source, options);
        return made;
    }
    made->planes = planes;
    made->weights = weights_of(*circuit);
    made->circuit = *circuit;
    made->circuit.weights = ConstHostArray(made->weights);
    return made;
}

Program block_program(const Stream& stream, const OperatorPlan& plan, std::uint32_t width, bool diagonal) {
    using namespace spirv;
    ProgramOptions options{
        .name = "operator_block", .constants = {{2u, width}, {3u, diagonal}}, .elements_per_workgroup = 1};
    options.operations_per_element = 32.0 * static_cast<double>(plan.states->block) * (2.0 * width + 8);
    return {stream, plan.real64 ? ShaderWords(operator_block_real64) : ShaderWords(operator_block_real32),
            options};
}

/// `values` of `words`, from element `origin` on.
BoundWords bind_values(const DeviceLimits& limits, const OperatorPlan& plan, const Words& words,
                       std::uint64_t origin, std::uint64_t values) {
    const std::uint64_t unit = plan.real_bytes();
    return bind_units(limits, detail::Access::object(words), words.first() * 4 / unit + origin, values, unit);
}

DeviceArray values_in(const Words& words, const OperatorPlan& plan, std::uint64_t values) {
    const auto object = detail::Access::object(words);
    const std::size_t first = words.first() * 4 / plan.real_bytes();
    if (plan.real64) return detail::Access::make<BufferView<double>>(object, first, values);
    return detail::Access::make<BufferView<float>>(object, first, values);
}

/// Words of some values of an array.
Words words_of(const DeviceArray& array, std::uint64_t first, std::uint64_t count) {
    const std::uint64_t words = array.type().bytes() / 4;
    return detail::Access::make<Words>(detail::Access::object(array), (array.first() + first) * words,
                                       count * words);
}

}  // namespace

std::vector<Words> DeviceStates::words(const OperatorPlan& plan) const {
    std::vector<Words> all;
    if (packed) {
        all.push_back(packed->x);
        for (const std::optional<Words>& more : {packed->y, packed->factors})
            if (more) all.push_back(*more);
        return all;
    }
    // What lies between planes has no defined values.
    const KernelMatrixPlan& matrix = plan.states->matrix;
    const std::uint64_t words = matrix.real_bytes() / 4;
    for (std::uint64_t plane = 0; plane < 2 * plan.shape.qubits; ++plane)
        all.push_back(part_of(*planes, plane * matrix.stride * words,
                              (plan.shape.samples + plan.shape.others) * words));
    return all;
}

std::shared_ptr<const DeviceStates> make_states(Stream& stream, const OperatorPlan& plan,
                                                const KernelMatrixCircuit* circuit, const ConstDeviceArray& x,
                                                const ConstDeviceArray* y) {
    return states_of(stream, plan, circuit, x, y);
}
std::shared_ptr<const DeviceStates> make_states(Stream& stream, const OperatorPlan& plan,
                                                const KernelMatrixCircuit* circuit, const ConstHostArray& x,
                                                const ConstHostArray* y) {
    return states_of(stream, plan, circuit, x, y);
}

BlockMaker::BlockMaker(Stream& stream, KernelMemory& memory, const OperatorPlan& plan,
                       const DeviceStates& states)
    : stream_(stream),
      plan_(plan),
      values_(memory.words(
          (halves_blocks(plan) ? 2 : 1) * plan.states->block * plan.states->block * plan.real_bytes() / 4,
          "operator block")) {
    const KernelMatrixPlan& matrix = plan.states->matrix;
    const KernelMatrixOptions options = matrix_options(plan.options, plan.states->given);
    if (states.packed) {
        tiles_.emplace(stream, memory, matrix, *states.packed, options);
        return;
    }
    source_.emplace(stream, memory, matrix, states.circuit, *states.planes);
    tiles_.emplace(stream, memory, matrix, *source_, options);
}

void BlockMaker::make(const OperatorBlock& block, bool turned) {
    const KernelBlock& b = block.tiles.block;
    const GramTarget target{values_, {leading(), 0, block.mirrored, image_origin()}};
    tiles_->with(block.tiles, [&](const PackedTile& x, const PackedTile& y) {
        const GramRows rows = x.rows(b.row, b.rows);
        const bool own = plan_.shape.square() && b.row == b.column && b.rows == b.columns;
        if (own) return tiles_->product().square(stream_, rows, target);
        const GramRows columns = y.rows(b.column, b.columns);
        tiles_->product().multiply(stream_, turned ? columns : rows, turned ? rows : columns, target);
    });
    Normalizer* const normalizer = tiles_->scaler();
    if (normalizer == nullptr) return;
    const KernelBlock across{b.column, b.columns, b.row, b.rows};
    normalizer->scale(stream_, values_, 0, leading(), turned ? across : b, turned);
    if (block.mirrored) normalizer->scale(stream_, values_, image_origin(), leading(), across);
}

void ApplyCall::add_block(Stream& stream, const BlockMaker& maker, const ConstDeviceArray& v,
                          const DeviceArray& out, std::uint64_t first_row, const BlockPlace& place,
                          const SumFactors& factors) const {
    constexpr std::uint32_t kMostWidth = 16;
    constexpr std::uint64_t kRows = 32;  // of a workgroup
    const DeviceLimits& limits = stream.device().limits;
    const BoundWords in = bind_elements(limits, v, place.column * columns_, place.columns * columns_);
    const BoundWords to =
        bind_elements(limits, out, (place.row - first_row) * columns_, place.rows * columns_);
    const BoundWords block = bind_values(limits, plan_, maker.values(), place.origin,
                                         (place.rows - 1) * maker.leading() + place.columns);
    shared::OperatorBlockParameters p = block_parameters(plan_, place, maker.leading(), columns_, factors);
    p.before = block.before;
    for (std::uint32_t first = 0; first < columns_; first += kMostWidth) {
        p.in_base = in.before + first;
        p.out_base = to.before + first;
        const Program program = block_program(stream, plan_, std::min(kMostWidth, columns_ - first), false);
        stream.dispatch(program, {ConstWords(block.words), ConstWords(in.words), to.words},
                        divide_up(place.rows, kRows), p);
    }
}

void ApplyCall::record_states(Stream& stream, KernelMemory& memory, const ConstDeviceArray& v,
                              const DeviceArray& out, const ApplyRows& rows, const BandDone& done) const {
    BlockMaker maker(stream, memory, plan_, *samples_.states);
    const double delta = side_.square ? options_.a * options_.lambda : 0;
    for (const BlockStep& step : block_steps(blocks_of(rows), turned_, maker.image_origin())) {
        maker.make(step.block, turned_);
        for (const BlockPlace& place : step.places)
            add_block(stream, maker, v, out, rows.first, place,
                      {options_.a, delta, place.first ? options_.b : 1});
        done(pairs_of(plan_, step.block));
    }
}

void ApplyCall::record_states(Stream& stream, KernelMemory& memory, const ConstDeviceArray& v,
                              const ApplyTotals& totals, const PairShare& share, const BandDone& done) const {
    BlockMaker maker(stream, memory, plan_, *samples_.states);
    const std::uint64_t values = maker.leading() * columns_;
    const Words words = memory.words(values * plan_.real_bytes() / 4, "operator sums");
    const DeviceArray sums = values_in(words, plan_, values);
    for (const BlockStep& step : block_steps(blocks_of(share), false, maker.image_origin())) {
        maker.make(step.block, false);
        for (const BlockPlace& place : step.places) {
            add_block(stream, maker, v, sums, place.row, place, {});
            add_to_totals(stream, totals, 0, columns_, place.row, place.rows, words, {1, 0, columns_});
        }
        done(pairs_of(plan_, step.block));
    }
}

void record_state_rows(Stream& stream, const DeviceSamples& samples, const std::vector<std::uint32_t>& rows,
                       const DeviceArray& out, const PairsDone& done) {
    const OperatorPlan& plan = samples.plan;
    KernelMemory memory(stream);
    BlockMaker maker(stream, memory, plan, *samples.states);
    const std::uint64_t words = plan.real_bytes() / 4, all = plan.shape.columns();
    for (const RowPanel& panel : row_panels(plan, rows)) {
        const auto [row, end] = panel.rows;
        for (const OperatorBlock& block : operator_blocks(plan, row, end, false, false)) {
            const KernelBlock& b = block.tiles.block;
            maker.make(block, false);
            for (const std::size_t i : panel.places)
                stream.copy<std::uint32_t>(
                    part_of(maker.values(), (rows[i] - row) * maker.leading() * words, b.columns * words),
                    words_of(out, i * all + b.column, b.columns));
            done(panel.places.size() * b.columns);
        }
    }
}

void record_state_diagonal(Stream& stream, const DeviceSamples& samples, const DeviceArray& out,
                           const PairsDone& done) {
    constexpr std::uint64_t kRows = 512, kLanes = 128;
    const OperatorPlan& plan = samples.plan;
    const DeviceLimits& limits = stream.device().limits;
    KernelMemory memory(stream);
    BlockMaker maker(stream, memory, plan, *samples.states);
    const Program program = block_program(stream, plan, 1, true);
    for (const OperatorBlock& block : diagonal_blocks(plan, kRows)) {
        const std::uint64_t row = block.tiles.block.row, rows = block.tiles.block.rows;
        maker.make(block, false);
        const BoundWords values =
            bind_values(limits, plan, maker.values(), 0, (rows - 1) * maker.leading() + rows);
        const BoundWords to = bind_elements(limits, out, row, rows);
        shared::OperatorBlockParameters p{};
        p.rows = word(rows);
        p.leading = word(maker.leading());
        p.before = values.before;
        p.out_base = to.before;
        stream.dispatch(program, {ConstWords(values.words), ConstWords(values.words), to.words},
                        divide_up(rows, kLanes), p);
        done(rows);
    }
}

}  // namespace weft::kernels
