// SPDX-License-Identifier: Apache-2.0
#include "ops_cuda/kernel_matrix/kernel_states.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "cuda/check.hpp"
#include "ops_cuda/kernel_matrix/kernel_launch.hpp"

namespace weft::cuda {
namespace {

using kernels::word;

constexpr const char* kFunction = "kernel_matrix";

void launch_angles(StreamHandle stream, const kernels::KernelMatrixPlan& plan, const ConstDeviceArray& x,
                   std::uint64_t rows, double scale, void* planes, std::uint64_t column) {
    const std::uint64_t qubits = plan.shape.qubits;
    const std::uint64_t most = std::max<std::uint64_t>(1, (1u << 30) / qubits);
    for (std::uint64_t row = 0; row < rows; row += most) {
        const AnglesLaunch launch{
            .stream = stream,
            .count = word(std::min(most, rows - row) * qubits),
            .p = kernels::angle_parameters(plan, x.type, scale, column + row),
            .features = static_cast<const std::byte*>(x.data) + row * qubits * x.type.bytes(),
            .planes = planes};
        check_launch(plan.real64 ? launch_kernel_angles_real64(launch) : launch_kernel_angles_real32(launch),
                     kFunction);
    }
}

}  // namespace

Scratch angle_planes(StreamHandle stream, const kernels::KernelMatrixPlan& plan, const ConstDeviceArray& x,
                     const ConstDeviceArray* y, double scale) {
    Scratch planes(stream, plan.planes_values() * plan.real_bytes(), kFunction, "planes");
    fill_angle_planes(stream, plan, x, y, scale, planes.data());
    return planes;
}

void fill_angle_planes(StreamHandle stream, const kernels::KernelMatrixPlan& plan, const ConstDeviceArray& x,
                       const ConstDeviceArray* y, double scale, void* planes) {
    launch_angles(stream, plan, x, plan.shape.samples, scale, planes, 0);
    if (y != nullptr) launch_angles(stream, plan, *y, plan.shape.others, scale, planes, plan.others_at);
}

Scratch angle_planes(StreamHandle stream, const kernels::KernelMatrixPlan& plan, const ConstHostArray& x,
                     const ConstHostArray* y, double scale) {
    const auto uploaded = [&](const void* data, std::uint64_t bytes) {
        Scratch memory(stream, bytes, kFunction, "X or Y");
        check(cudaMemcpyAsync(memory.data(), data, bytes, cudaMemcpyHostToDevice, stream), kFunction,
              "cudaMemcpyAsync");
        return memory;
    };
    const Scratch x_memory = uploaded(x.data, x.bytes());
    const Scratch y_memory = y != nullptr ? uploaded(y->data, y->bytes()) : Scratch();
    const ConstDeviceArray x_array(x_memory.data(), x.size, x.type);
    const ConstDeviceArray y_array(y_memory.data(), y != nullptr ? y->size : 0, x.type);
    return angle_planes(stream, plan, x_array, y != nullptr ? &y_array : nullptr, scale);
}

const std::byte* GivenStates::rows(const kernels::StateRows& rows) {
    return static_cast<const std::byte*>(rows.of_y ? y_->data : x_.data) +
           rows.row * plan_.states.state_bytes;
}

HostStates::HostStates(StreamHandle stream, const kernels::KernelMatrixPlan& plan, const ConstHostArray& x,
                       const ConstHostArray* y)
    : stream_(stream),
      plan_(plan),
      x_(x),
      y_(y),
      memory_(stream, plan.states.chunk_rows * plan.states.state_bytes, kFunction, "states") {}

const std::byte* HostStates::rows(const kernels::StateRows& rows) {
    const auto* const from =
        static_cast<const std::byte*>(rows.of_y ? y_->data : x_.data) + rows.row * plan_.states.state_bytes;
    check(cudaMemcpyAsync(memory_.data(), from, rows.count * plan_.states.state_bytes, cudaMemcpyHostToDevice,
                          stream_),
          kFunction, "cudaMemcpyAsync");
    return memory_.as<std::byte>();
}

CircuitStates::CircuitStates(StreamHandle stream, const kernels::KernelMatrixPlan& plan,
                             const KernelMatrixCircuit& circuit, Scratch planes)
    : CircuitStates(stream, plan, circuit, planes.data()) {
    own_planes_ = std::move(planes);
}

CircuitStates::CircuitStates(StreamHandle stream, const kernels::KernelMatrixPlan& plan,
                             const KernelMatrixCircuit& circuit, const void* planes)
    : stream_(stream),
      plan_(plan),
      rz_(circuit.map == FeatureMap::ryrz),
      planes_(planes),
      weights_(stream, 2 * plan.layers * std::uint64_t{plan.shape.qubits} * plan.real_bytes(), kFunction,
               "weights"),
      states_(stream, plan.states.chunk_rows * plan.states.state_bytes, kFunction, "states") {
    const std::vector<std::uint32_t> weights = kernels::weight_words(plan, circuit);
    check(
        cudaMemcpyAsync(weights_.data(), weights.data(), weights.size() * 4, cudaMemcpyHostToDevice, stream),
        kFunction, "cudaMemcpyAsync");
    if (plan.states.two_buffers)
        other_ = Scratch(stream, plan.states.chunk_rows * plan.states.state_bytes, kFunction, "states");
}

const std::byte* CircuitStates::rows(const kernels::StateRows& rows) {
    const std::uint32_t bits = std::max(plan_.shape.qubits, 4u);
    std::byte *to = states_.as<std::byte>(), *from = plan_.states.two_buffers ? other_.as<std::byte>() : to;
    for (std::uint32_t layer = 1; layer <= plan_.layers; ++layer) {
        const std::uint32_t gates = layer == plan_.layers ? shared::kKernelNoLayer : layer;
        for (const kernels::StatePass& pass : plan_.states.passes) {
            // The first pass of the first layer makes the product state in front of it.
            const StatesLaunch launch{.stream = stream_,
                                      .generate = layer == 1 && pass.ring,
                                      .ring = pass.ring,
                                      .lanes = lanes_of(plan_.states, pass),
                                      .count = word(rows.count << (bits - pass.window)),
                                      .p = kernels::state_parameters(plan_, pass, rows, gates, rz_),
                                      .planes = planes_,
                                      .weights = weights_.data(),
                                      .source = pass.ring ? from : to,
                                      .states = to};
            check_launch(
                plan_.real64 ? launch_kernel_states_real64(launch) : launch_kernel_states_real32(launch),
                kFunction);
        }
        std::swap(from, to);
    }
    return from;
}

}  // namespace weft::cuda
