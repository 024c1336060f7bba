// SPDX-License-Identifier: Apache-2.0
#include "ops_vulkan/kernel_matrix/kernel_states.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "shaders/kernel_matrix/kernel_parameters.h"

namespace weft::kernels {
namespace {

constexpr std::uint32_t kStatesWork32[] = {
#include "shaders/kernel_states_real32.spv.inc"
};
constexpr std::uint32_t kStatesWork64[] = {
#include "shaders/kernel_states_real64.spv.inc"
};

constexpr std::uint32_t kPackedWork32[] = {
#include "shaders/kernel_states_packed_real32.spv.inc"
};
constexpr std::uint32_t kPackedWork64[] = {
#include "shaders/kernel_states_packed_real64.spv.inc"
};
constexpr std::uint32_t kPackedMatrix[] = {
#include "shaders/kernel_states_matrix.spv.inc"
};

std::uint32_t word(std::uint64_t value) {
    return static_cast<std::uint32_t>(value);
}

double weight_at(const ConstHostArray& weights, std::uint64_t i) {
    return weights.type == kFloat32
               ? static_cast<double>(static_cast<const float*>(weights.data)[i])
               : static_cast<const double*>(weights.data)[i];
}

template <class T>
void upload_weights(Stream& stream, const KernelMatrixCircuit& circuit, std::uint64_t count,
                    const Buffer<std::uint32_t>& target) {
    std::vector<T> turns(2 * count);
    for (std::uint64_t i = 0; i < count; ++i) {
        const double half = weight_at(circuit.weights, i) / 2;
        turns[2 * i] = static_cast<T>(std::cos(half));
        turns[2 * i + 1] = static_cast<T>(std::sin(half));
    }
    stream.upload(std::span<const T>(turns),
                  detail::Access::make<BufferView<T>>(detail::Access::object(target.view()), std::size_t{0},
                                                      turns.size()));
}

std::uint64_t words_of_states(const KernelMatrixPlan& plan, std::uint64_t rows) {
    return rows * plan.states.state_bytes / 4;
}

using ShaderWords = std::span<const std::uint32_t>;

Program states_program(const Stream& stream, const KernelMatrixPlan& plan, const StatePass& pass, bool generate,
                       bool packs) {
    const std::uint32_t lanes = lanes_of(plan.states, pass);
    ProgramOptions options{.name = "kernel_states",
                           .constants = {{0u, lanes}, {2u, generate}, {3u, pass.ring}, {4u, lanes}},
                           .elements_per_workgroup = lanes >> (pass.window - 4),
                           .max_workgroups = stream.device().limits.max_workgroup_count[0]};
    if (!packs)
        return {stream, plan.real64 ? ShaderWords(kStatesWork64) : ShaderWords(kStatesWork32), options};
    options.constants.emplace_back(5u, plan.states.squares != 0);
    if (plan.states.gram.matrix()) return {stream, ShaderWords(kPackedMatrix), options};
    options.constants.emplace_back(6u, plan.states.turned);
    return {stream, plan.real64 ? ShaderWords(kPackedWork64) : ShaderWords(kPackedWork32), options};
}

std::optional<Buffer<std::uint32_t>> room(const Stream& stream, std::uint64_t bytes, const char* name) {
    if (bytes == 0) return std::nullopt;
    return Buffer<std::uint32_t>(stream, bytes / 4, name);
}

}  // namespace

void RowMajorStates::pack(Stream& stream, const StateRows& rows, const PackTarget& target,
                          Normalizer* normalizer) {
    const Words words = states(stream, rows);
    if (normalizer != nullptr) normalizer->take(stream, words, rows);
    target.product.pack(stream, words, rows.count, target.planes, target.first);
}

CircuitStates::CircuitStates(Stream& stream, const KernelMatrixPlan& plan, const KernelMatrixCircuit& circuit,
                             AnglePlanes planes)
    : plan_(plan),
      planes_(std::move(planes)),
      rz_(circuit.map == FeatureMap::ryrz),
      weights_(static_cast<const Stream&>(stream),
               2 * plan.layers * std::uint64_t{plan.shape.qubits} * plan.real_bytes() / 4, "kernel weights") {
    const std::uint64_t count = plan.layers * std::uint64_t{plan.shape.qubits};
    if (plan.real64)
        upload_weights<double>(stream, circuit, count, weights_);
    else
        upload_weights<float>(stream, circuit, count, weights_);
    const std::uint64_t each = built_bytes(plan) / (plan.states.two_buffers ? 2 : 1);
    states_ = room(stream, each, "kernel states");
    if (plan.states.two_buffers) other_ = room(stream, each, "kernel states");
    squares_ = room(stream, plan.states.chunk_rows * plan.states.squares * plan.real_bytes(), "kernel norms");
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

Words CircuitStates::held(const std::optional<Buffer<std::uint32_t>>& states, std::uint64_t rows) const {
    return states ? states->view(0, words_of_states(plan_, rows)) : weights_.view();
}

Words CircuitStates::build(Stream& stream, const StateRows& rows, const Words* packed) {
    Words to = held(states_, rows.count), from = other_ ? held(other_, rows.count) : to;
    for (std::uint32_t layer = 1; layer <= plan_.layers; ++layer) {
        const bool last = layer == plan_.layers;
        for (const StatePass& pass : plan_.states.passes) {
            const bool packs = packed != nullptr && last && &pass == &plan_.states.passes.back();
            const Step step{pass, last ? shared::kKernelNoLayer : layer, layer == 1 && pass.ring};
            run(stream, rows, step, pass.ring ? from : to, packs ? *packed : to, packs);
        }
        std::swap(from, to);
    }
    return from;
}

void CircuitStates::run(Stream& stream, const StateRows& rows, const Step& step, const Words& from,
                        const Words& to, bool packs) {
    const StatePass& pass = step.pass;
    const std::uint64_t column = rows.of_y ? plan_.shape.samples + rows.row : rows.row;
    const std::uint64_t padded = packs ? (rows.count + 63) / 64 * 64 : rows.count;
    const shared::KernelStateParameters parameters{
        plan_.shape.qubits, word(planes_.stride), word(column),
        pass.window,        pass.carried,         pass.from,
        pass.gates_from,    step.gates,           rz_ ? 1u : 0u,
        word(rows.count),   word(padded),         word(plan_.states.gram.blocks)};
    const std::uint64_t count = padded << (std::max(plan_.shape.qubits, 4u) - pass.window);
    const BufferView<const std::uint32_t> angles(planes_.words), weights(weights_.view());
    const BufferView<const std::uint32_t> source(from);
    const Program program = states_program(stream, plan_, pass, step.generate, packs);
    if (packs)
        stream.dispatch(program, {angles, weights, source, to, squares_ ? squares_->view() : to}, count,
                        parameters);
    else
        stream.dispatch(program, {angles, weights, source, to}, count, parameters);
}

Words ResidentStates::states(Stream&, const StateRows& rows) {
    const ConstDeviceArray& states = rows.of_y ? *y_ : x_;
    const std::uint64_t first =
        states.first() * states.type().bytes() / 4 + words_of_states(plan_, rows.row);
    return words_of(detail::Access::object(states), first, words_of_states(plan_, rows.count));
}

HostStates::HostStates(Stream& stream, const KernelMatrixPlan& plan, const ConstHostArray& x,
                       const ConstHostArray* y)
    : plan_(plan),
      x_(x),
      y_(y),
      states_(static_cast<const Stream&>(stream), words_of_states(plan, plan.states.chunk_rows),
              "kernel states") {}

Words HostStates::states(Stream& stream, const StateRows& rows) {
    const ConstHostArray& states = rows.of_y ? *y_ : x_;
    const auto* words = static_cast<const std::uint32_t*>(states.data) + words_of_states(plan_, rows.row);
    const Words target = states_.view(0, words_of_states(plan_, rows.count));
    stream.upload(std::span<const std::uint32_t>(words, target.size()), target);
    return target;
}

}  // namespace weft::kernels
