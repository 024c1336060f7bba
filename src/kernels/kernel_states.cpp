// SPDX-License-Identifier: Apache-2.0
#include "kernels/kernel_states.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "kernels/kernel_check.hpp"
#include "shared/kernel_parameters.h"

namespace weft::kernels {
namespace {

constexpr std::uint32_t kStatesWork32[] = {
#include "shaders/kernel_states_work32.spv.inc"
};
constexpr std::uint32_t kStatesWork64[] = {
#include "shaders/kernel_states_work64.spv.inc"
};

std::uint32_t word(std::uint64_t value) {
    return static_cast<std::uint32_t>(value);
}

double weight_at(const KernelSource& weights, std::uint64_t i) {
    return weights.type == ValueType::float32
               ? static_cast<double>(static_cast<const float*>(weights.data)[i])
               : static_cast<const double*>(weights.data)[i];
}

template <class T>
void upload_weights(Stream& stream, const KernelCircuit& circuit, std::uint64_t count,
                    const Buffer<std::uint32_t>& target) {
    std::vector<T> turns(2 * count);
    for (std::uint64_t i = 0; i < count; ++i) {
        const double half = weight_at(circuit.weights, i) / 2;
        turns[2 * i] = static_cast<T>(std::cos(half));
        turns[2 * i + 1] = static_cast<T>(std::sin(half));
    }
    stream.upload(std::span<const T>(turns), BufferView<T>(target.view().object(), 0, turns.size()));
}

std::uint64_t words_of_states(const KernelPlan& plan, std::uint64_t rows) {
    return rows * plan.states.state_bytes / 4;
}

Program states_program(const Stream& stream, const KernelPlan& plan, const StatePass& pass, bool generate) {
    using ShaderWords = std::span<const std::uint32_t>;
    const std::uint32_t lanes = lanes_of(plan.states, pass);
    return {stream,
            plan.work64 ? ShaderWords(kStatesWork64) : ShaderWords(kStatesWork32),
            {.name = "kernel_states",
             .constants = {{0u, lanes}, {2u, generate}, {3u, pass.ring}, {4u, lanes}},
             .elements_per_group = lanes >> (pass.window - 4),
             .max_groups = stream.device().limits.max_group_count[0]}};
}

}  // namespace

CircuitStates::CircuitStates(Stream& stream, const KernelPlan& plan, const KernelCircuit& circuit,
                             AnglePlanes planes)
    : plan_(plan),
      planes_(std::move(planes)),
      rz_(circuit.map == KernelMap::ryrz),
      weights_(static_cast<const Stream&>(stream),
               2 * plan.layers * std::uint64_t{plan.shape.qubits} * plan.real_bytes() / 4, "kernel weights"),
      states_(static_cast<const Stream&>(stream), words_of_states(plan, plan.states.chunk_rows),
              "kernel states") {
    const std::uint64_t count = plan.layers * std::uint64_t{plan.shape.qubits};
    if (plan.work64)
        upload_weights<double>(stream, circuit, count, weights_);
    else
        upload_weights<float>(stream, circuit, count, weights_);
    if (plan.states.two_buffers)
        other_.emplace(static_cast<const Stream&>(stream), words_of_states(plan, plan.states.chunk_rows),
                       "kernel states");
}

Words CircuitStates::rows(Stream& stream, bool of_y, std::uint64_t row, std::uint64_t count) {
    const std::uint64_t column = of_y ? plan_.shape.samples + row : row;
    Words from = (other_ ? *other_ : states_).view(0, words_of_states(plan_, count));
    Words to = states_.view(0, words_of_states(plan_, count));
    for (std::uint32_t layer = 1; layer <= plan_.layers; ++layer) {
        const bool last = layer == plan_.layers;
        build_layer(stream, {last ? shared::kKernelNoLayer : layer, layer == 1}, column, count, from, to);
        std::swap(from, to);
    }
    return from;
}

void CircuitStates::build_layer(Stream& stream, const Layer& layer, std::uint64_t column, std::uint64_t count,
                                const Words& from, const Words& to) {
    const std::uint32_t bits = std::max(plan_.shape.qubits, 4u);
    for (const StatePass& pass : plan_.states.passes) {
        const shared::KernelStateParameters parameters{
            plan_.shape.qubits, word(planes_.stride), word(column), pass.window,  pass.carried,
            pass.from,          pass.gates_from,      layer.gates,  rz_ ? 1u : 0u};
        const Words& source = pass.ring && !layer.generate ? from : to;
        stream.dispatch(states_program(stream, plan_, pass, layer.generate && pass.ring),
                        {BufferView<const std::uint32_t>(planes_.words), weights_,
                         BufferView<const std::uint32_t>(source), to},
                        count << (bits - pass.window), parameters);
    }
}

Words ResidentStates::rows(Stream&, bool of_y, std::uint64_t row, std::uint64_t count) {
    const KernelStates& states = of_y ? *y_ : x_;
    const std::uint64_t first = states.first * amplitude_bytes(states.type) / 4 + words_of_states(plan_, row);
    return {states.object, first, words_of_states(plan_, count)};
}

HostStates::HostStates(Stream& stream, const KernelPlan& plan, const KernelStateSource& x,
                       const KernelStateSource* y)
    : plan_(plan),
      x_(x),
      y_(y),
      states_(static_cast<const Stream&>(stream), words_of_states(plan, plan.states.chunk_rows),
              "kernel states") {}

Words HostStates::rows(Stream& stream, bool of_y, std::uint64_t row, std::uint64_t count) {
    const KernelStateSource& states = of_y ? *y_ : x_;
    const auto* words = static_cast<const std::uint32_t*>(states.data) + words_of_states(plan_, row);
    const Words target = states_.view(0, words_of_states(plan_, count));
    stream.upload(std::span<const std::uint32_t>(words, target.size()), target);
    return target;
}

}  // namespace weft::kernels
