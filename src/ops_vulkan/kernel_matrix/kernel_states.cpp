// SPDX-License-Identifier: Apache-2.0
#include "ops_vulkan/kernel_matrix/kernel_states.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "shaders/kernel.spv.hpp"

namespace weft::kernels {
namespace {

using ShaderWords = std::span<const std::uint32_t>;

// Words [first, first + count) of a buffer.
Words words_of(const std::shared_ptr<core::BufferObject>& object, std::uint64_t first, std::uint64_t count) {
    return detail::Access::make<Words>(object, first, count);
}

std::uint64_t words_of_states(const KernelMatrixPlan& plan, std::uint64_t rows) {
    return rows * plan.states.state_bytes / 4;
}

std::optional<Words> room(KernelMemory& memory, std::uint64_t bytes, const char* name) {
    if (bytes == 0) return std::nullopt;
    return memory.words(bytes / 4, name);
}

std::uint32_t most_workgroups(const Stream& stream) {
    return stream.device().limits.max_workgroup_count[0];
}

Program angles_program(const Stream& stream, bool real64) {
    constexpr std::uint32_t kLocalSize = 128;
    return {stream,
            real64 ? ShaderWords(spirv::kernel_angles_real64) : ShaderWords(spirv::kernel_angles_real32),
            {.name = "kernel_angles",
             .constants = {{0u, kLocalSize}},
             .max_workgroups = most_workgroups(stream)}};
}

Program norms_program(const Stream& stream, ShaderWords words, std::uint32_t lanes, bool widened = false) {
    ProgramOptions options{.name = "kernel_norms",
                           .constants = {{0u, lanes}},
                           .elements_per_workgroup = 1,
                           .max_workgroups = most_workgroups(stream)};
    if (widened) options.constants.emplace_back(2u, true);  // the shaders of float lack it
    return {stream, words, options};
}

Program states_program(const Stream& stream, const KernelMatrixPlan& plan, const StatePass& pass,
                       bool generate, bool packs) {
    const std::uint32_t lanes = lanes_of(plan.states, pass);
    ProgramOptions options{.name = "kernel_states",
                           .constants = {{0u, lanes}, {2u, generate}, {3u, pass.ring}, {4u, lanes}},
                           .elements_per_workgroup = lanes >> (pass.window - 4),
                           .max_workgroups = most_workgroups(stream)};
    if (!packs)
        return {
            stream,
            plan.real64 ? ShaderWords(spirv::kernel_states_real64) : ShaderWords(spirv::kernel_states_real32),
            options};
    options.constants.emplace_back(5u, plan.states.squares != 0);
    if (plan.states.gram.matrix()) return {stream, ShaderWords(spirv::kernel_states_matrix), options};
    options.constants.emplace_back(6u, plan.states.turned);
    return {stream,
            plan.real64 ? ShaderWords(spirv::kernel_states_packed_real64)
                        : ShaderWords(spirv::kernel_states_packed_real32),
            options};
}

// Rows [0, rows) of features to columns [column, column + rows) of the planes.
void record_angles(Stream& stream, KernelMemory&, const KernelMatrixPlan& plan, const ConstDeviceArray& x,
                   std::uint64_t rows, double scale, const Words& planes, std::uint64_t column) {
    const DeviceLimits& limits = stream.device().limits;
    const Program program = angles_program(stream, plan.real64);
    const std::uint64_t qubits = plan.shape.qubits;
    const std::uint64_t range = limits.max_storage_buffer_range - limits.storage_buffer_offset_alignment;
    const std::uint64_t most =
        std::max<std::uint64_t>(1, std::min<std::uint64_t>(range / x.type().bytes(), 1u << 30) / qubits);
    for (std::uint64_t row = 0; row < rows; row += most) {
        const std::uint64_t some = std::min(most, rows - row);
        const BoundWords bound = bind_elements(limits, x, row * qubits, some * qubits);
        shared::KernelAngleParameters parameters = angle_parameters(plan, x.type(), scale, column + row);
        parameters.in_base = bound.before;
        stream.dispatch(program, {bound.words, planes}, some * qubits, parameters);
    }
}

void record_angles(Stream& stream, KernelMemory& memory, const KernelMatrixPlan& plan,
                   const ConstHostArray& x, std::uint64_t rows, double scale, const Words& planes,
                   std::uint64_t column) {
    const std::uint64_t count = rows * plan.shape.qubits, words = count * x.type.bytes() / 4;
    const Words features = memory.words(words, "kernel features");
    stream.upload(std::span(static_cast<const std::uint32_t*>(x.data), words), features);
    const auto object = detail::Access::object(features);
    if (x.type == kFloat32)
        record_angles(stream, memory, plan,
                      detail::Access::make<BufferView<const float>>(object, std::size_t{0}, count), rows,
                      scale, planes, column);
    else
        record_angles(stream, memory, plan,
                      detail::Access::make<BufferView<const double>>(object, std::size_t{0}, count), rows,
                      scale, planes, column);
}

template <class Array>
Words planes_of(Stream& stream, KernelMemory& memory, const KernelMatrixPlan& plan, const Array& x,
                const Array* y, double scale) {
    const Words planes = memory.words(plan.planes_values() * plan.real_bytes() / 4, "kernel planes");
    record_angles(stream, memory, plan, x, plan.shape.samples, scale, planes, 0);
    if (y != nullptr)
        record_angles(stream, memory, plan, *y, plan.shape.others, scale, planes, plan.others_at);
    return planes;
}

}  // namespace

BoundWords bind_units(const DeviceLimits& limits, const std::shared_ptr<core::BufferObject>& object,
                      std::uint64_t first, std::uint64_t count, std::uint64_t unit) {
    const std::uint64_t alignment = std::max<std::uint64_t>(limits.storage_buffer_offset_alignment, unit);
    const std::uint64_t begin = first * unit, aligned = begin / alignment * alignment;
    return {words_of(object, aligned / 4, (begin + count * unit - aligned) / 4),
            word((begin - aligned) / unit)};
}

BoundWords bind_elements(const DeviceLimits& limits, const ConstDeviceArray& array, std::uint64_t first,
                         std::uint64_t count) {
    return bind_units(limits, detail::Access::object(array), array.first() + first, count,
                      array.type().bytes());
}

Words angle_planes(Stream& stream, KernelMemory& memory, const KernelMatrixPlan& plan,
                   const ConstDeviceArray& x, const ConstDeviceArray* y, double scale) {
    return planes_of(stream, memory, plan, x, y, scale);
}
Words angle_planes(Stream& stream, KernelMemory& memory, const KernelMatrixPlan& plan,
                   const ConstHostArray& x, const ConstHostArray* y, double scale) {
    return planes_of(stream, memory, plan, x, y, scale);
}

Normalizer::Normalizer(KernelMemory& memory, const KernelMatrixPlan& plan, const KernelMatrixOptions& options)
    : plan_(plan), options_(options), factors_(memory.words(words(plan), "kernel factors")) {}

void Normalizer::take(Stream& stream, const Words& states, const StateRows& rows) {
    const std::uint64_t unit = plan_.states.state_bytes >> plan_.shape.qubits;
    const BoundWords bound = bind_units(stream.device().limits, detail::Access::object(states),
                                        states.first() * 4 / unit, rows.count << plan_.shape.qubits, unit);
    shared::KernelNormParameters parameters =
        norm_parameters(plan_, options_, rows, std::uint64_t{1} << plan_.shape.qubits);
    parameters.before = bound.before;
    stream.dispatch(norms_program(stream,
                                  plan_.real64 ? ShaderWords(spirv::kernel_norms_real64)
                                               : ShaderWords(spirv::kernel_norms_real32),
                                  plan_.states.norm_lanes, plan_.states.gram.problem.widened),
                    {ConstWords(bound.words), factors_}, rows.count, parameters);
}

void Normalizer::take_squares(Stream& stream, const Words& squares, const StateRows& rows) {
    // No more invocations than sums, of which a state has one to some hundreds.
    const std::uint32_t lanes = std::min(plan_.states.norm_lanes, plan_.states.squares);
    stream.dispatch(norms_program(stream,
                                  plan_.real64 ? ShaderWords(spirv::kernel_norms_squares_real64)
                                               : ShaderWords(spirv::kernel_norms_squares_real32),
                                  lanes),
                    {ConstWords(squares), factors_}, rows.count,
                    norm_parameters(plan_, options_, rows, plan_.states.squares));
}

void Normalizer::scale(Stream& stream, const GramRange& range, std::uint64_t origin, std::uint64_t leading,
                       const KernelBlock& block, bool turned) {
    const DeviceLimits& limits = stream.device().limits;
    ProgramOptions options{.name = "kernel_scale", .max_workgroups = most_workgroups(stream)};
    if (plan_.real64) options.constants = {{2u, plan_.type == kFloat64}};
    const Program program{
        stream,
        plan_.real64 ? ShaderWords(spirv::kernel_scale_real64) : ShaderWords(spirv::kernel_scale_real32),
        options};
    const std::uint64_t unit = plan_.value_bytes();
    const std::uint64_t most_values = std::min<std::uint64_t>(
        (limits.max_storage_buffer_range - limits.storage_buffer_offset_alignment) / unit, 1u << 31);
    const std::uint64_t most = std::max<std::uint64_t>(1, most_values / leading);
    for (std::uint64_t row = 0; row < block.rows; row += most) {
        const KernelBlock some{block.row + row, std::min(most, block.rows - row), block.column,
                               block.columns};
        const BoundWords bound = bind_units(limits, range.object, range.first / unit + origin + row * leading,
                                            (some.rows - 1) * leading + some.columns, unit);
        shared::KernelScaleParameters parameters = scale_parameters(plan_, options_, some, leading);
        parameters.before = bound.before;
        if (turned) {
            parameters.row_base = word(plan_.others_at + some.row);
            parameters.column_base = word(some.column);
        }
        stream.dispatch(program, {ConstWords(factors_), bound.words}, some.rows * some.columns, parameters);
    }
}

void RowMajorStates::pack(Stream& stream, const StateRows& rows, const PackTarget& target,
                          Normalizer* normalizer) {
    const Words words = states(stream, rows);
    if (normalizer != nullptr) normalizer->take(stream, words, rows);
    target.product.pack(stream, words, rows.count, target.planes, target.first);
}

CircuitStates::CircuitStates(Stream& stream, KernelMemory& memory, const KernelMatrixPlan& plan,
                             const KernelMatrixCircuit& circuit, Words planes)
    : plan_(plan),
      planes_(std::move(planes)),
      rz_(circuit.map == FeatureMap::ryrz),
      weights_(memory.words(2 * plan.layers * std::uint64_t{plan.shape.qubits} * plan.real_bytes() / 4,
                            "kernel weights")) {
    const std::vector<std::uint32_t> words = weight_words(plan, circuit);
    stream.upload(std::span<const std::uint32_t>(words), weights_);
    const std::uint64_t each = built_bytes(plan) / (plan.states.two_buffers ? 2 : 1);
    states_ = room(memory, each, "kernel states");
    if (plan.states.two_buffers) other_ = room(memory, each, "kernel states");
    squares_ = room(memory, plan.states.chunk_rows * plan.states.squares * plan.real_bytes(), "kernel norms");
}

void CircuitStates::pack(Stream& stream, const StateRows& rows, const PackTarget& target,
                         Normalizer* normalizer) {
    if (!plan_.states.fused) return RowMajorStates::pack(stream, rows, target, normalizer);
    const GramPlan& gram = plan_.states.gram;
    const Words packed =
        words_of(target.planes.object, (target.planes.first + target.first * gram.row_bytes) / 4,
                 gram.packed_bytes(rows.count) / 4);
    build(stream, rows, &packed);
    if (normalizer != nullptr) normalizer->take_squares(stream, *squares_, rows);
}

Words CircuitStates::held(const std::optional<Words>& states, std::uint64_t rows) const {
    return states ? part_of(*states, 0, words_of_states(plan_, rows)) : weights_;
}

Words CircuitStates::build(Stream& stream, const StateRows& rows, const Words* packed) {
    Words to = held(states_, rows.count), from = other_ ? held(other_, rows.count) : to;
    for (std::uint32_t layer = 1; layer <= plan_.layers; ++layer) {
        const bool last = layer == plan_.layers;
        for (const StatePass& pass : plan_.states.passes) {
            const bool packs = packed != nullptr && last && &pass == &plan_.states.passes.back();
            shared::KernelStateParameters parameters =
                state_parameters(plan_, pass, rows, last ? shared::kKernelNoLayer : layer, rz_);
            if (packs) parameters.padded = (parameters.rows + 63) / 64 * 64;
            const std::uint64_t count = std::uint64_t{parameters.padded}
                                        << (std::max(plan_.shape.qubits, 4u) - pass.window);
            // The first pass of the first layer makes the product state in front of it.
            const Program program = states_program(stream, plan_, pass, layer == 1 && pass.ring, packs);
            const ConstWords angles(planes_), weights(weights_), source(pass.ring ? from : to);
            if (packs)
                stream.dispatch(program, {angles, weights, source, *packed, squares_ ? *squares_ : *packed},
                                count, parameters);
            else
                stream.dispatch(program, {angles, weights, source, to}, count, parameters);
        }
        std::swap(from, to);
    }
    return from;
}

Words ResidentStates::states(Stream&, const StateRows& rows) {
    const ConstDeviceArray& states = rows.of_y ? *y_ : x_;
    const std::uint64_t first = states.first() * states.type().bytes() / 4 + words_of_states(plan_, rows.row);
    return words_of(detail::Access::object(states), first, words_of_states(plan_, rows.count));
}

HostStates::HostStates(KernelMemory& memory, const KernelMatrixPlan& plan, const ConstHostArray& x,
                       const ConstHostArray* y)
    : plan_(plan),
      x_(x),
      y_(y),
      states_(memory.words(words_of_states(plan, plan.states.chunk_rows), "kernel states")) {}

Words HostStates::states(Stream& stream, const StateRows& rows) {
    const ConstHostArray& states = rows.of_y ? *y_ : x_;
    const auto* words = static_cast<const std::uint32_t*>(states.data) + words_of_states(plan_, rows.row);
    const Words target = part_of(states_, 0, words_of_states(plan_, rows.count));
    stream.upload(std::span<const std::uint32_t>(words, target.size()), target);
    return target;
}

}  // namespace weft::kernels
