// SPDX-License-Identifier: Apache-2.0
// Also completes operator_memory.hpp.
#include "ops_cuda/kernel_operator/operator_object.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include <weft/error.hpp>

#include "cuda/own_stream.hpp"
#include "ops/kernel_matrix/gram_plan.hpp"
#include "ops/kernel_matrix/store_tiles.hpp"
#include "ops/kernel_operator/operator_check.hpp"
#include "ops/kernel_operator/operator_parameters.hpp"
#include "ops_cuda/kernel_matrix/kernel_device.hpp"
#include "ops_cuda/kernel_operator/operator_launch.hpp"

namespace weft::cuda {
namespace {

using kernels::OperatorPlan;
using kernels::word;

constexpr const char* kFunction = "KernelOperator";

int current_device(const char* function) {
    int device = 0;
    check(cudaGetDevice(&device), function, "cudaGetDevice");
    return device;
}

void launch_numbers(StreamHandle stream, const OperatorPlan& plan, double scale,
                    const ConstDeviceArray& features, std::uint64_t rows, std::byte* numbers) {
    const std::uint64_t qubits = plan.shape.qubits;
    // Kernels count in 32 bits.
    const std::uint64_t most =
        (std::uint64_t{1} << 30) / std::max<std::uint64_t>(2 * qubits, plan.layout.numbers());
    for (std::uint64_t row = 0; row < rows; row += most) {
        const std::uint64_t some = std::min(most, rows - row);
        const OperatorBlochLaunch launch{
            .stream = stream,
            .count = word(some * plan.layout.parts),
            .p = kernels::bloch_parameters(plan, features.type, scale),
            .features = static_cast<const std::byte*>(features.data) + row * qubits * features.type.bytes(),
            .numbers = numbers + row * plan.sample_bytes()};
        check_launch(
            plan.real64 ? launch_operator_bloch_real64(launch) : launch_operator_bloch_real32(launch),
            kFunction);
    }
}

DeviceMemory numbers_of(StreamHandle stream, const OperatorPlan& plan, double scale,
                        const ConstDeviceArray& features, std::uint64_t rows) {
    DeviceMemory numbers(rows * plan.sample_bytes());
    launch_numbers(stream, plan, scale, features, rows, numbers.data());
    return numbers;
}

}  // namespace

DeviceMemory::DeviceMemory(std::uint64_t bytes) : device_(current_device(kFunction)) {
    void* data = nullptr;
    const std::string call = "cudaMalloc of " + std::to_string(bytes) + " bytes for operator samples";
    check(cudaMalloc(&data, bytes), kFunction, call.c_str());
    data_ = static_cast<std::byte*>(data);
}
DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(device_, other.device_);
    return *this;
}
DeviceMemory::~DeviceMemory() {
    int before = device_;
    if (data_ == nullptr || cudaGetDevice(&before) != cudaSuccess) return;
    if (before != device_) static_cast<void>(cudaSetDevice(device_));
    static_cast<void>(cudaFree(data_));  // waits for the work of the current device
    if (before != device_) static_cast<void>(cudaSetDevice(before));
}

const std::byte* DeviceSamples::rows(bool transpose, std::uint64_t first) const {
    return (transpose && y.data() != nullptr ? y : x).data() + first * plan.sample_bytes();
}

std::vector<const OperatorPlan*> OperatorObject::plans() const {
    std::vector<const OperatorPlan*> plans;
    for (const Samples& place : places_) plans.push_back(&place->plan);
    return plans;
}

const DeviceSamples& OperatorObject::here(const char* function) const {
    const int device = current_device(function);
    for (const Samples& place : places_)
        if (place->device == device) return *place;
    throw Error(Errc::invalid_argument, std::string(function) +
                                            ": the operator is on another CUDA device (got " +
                                            std::to_string(device) + " as the current one, need " +
                                            std::to_string(first().device) + ")");
}

std::string sum_of_samples(const DeviceSamples& samples) {
    constexpr std::uint64_t kBytes = std::uint64_t{1} << 26;  // of a part
    const OperatorPlan& plan = samples.plan;
    std::vector<std::span<const std::byte>> all;
    if (samples.states) all = samples.states->ranges(plan);
    if (samples.x.data() != nullptr)
        all.emplace_back(samples.x.data(), plan.shape.samples * plan.sample_bytes());
    if (samples.y.data() != nullptr)
        all.emplace_back(samples.y.data(), plan.shape.others * plan.sample_bytes());
    const OwnStream stream(kFunction);
    kernels::ContentSum sum;
    std::vector<std::byte> part;
    for (const std::span<const std::byte> range : all)
        for (std::uint64_t at = 0; at < range.size(); at += part.size()) {
            part.resize(std::min<std::uint64_t>(kBytes, range.size() - at));
            copy(stream, part.data(), &range[at], part.size(), cudaMemcpyDeviceToHost, kFunction);
            stream.wait();
            sum.add(part);
        }
    return kernels::sum_text(sum);
}

OperatorPlan operator_plan_here(const char* function, const kernels::CircuitFacts& circuit,
                                const KernelMatrixShape& shape, const KernelOperatorOptions& options,
                                bool shared) {
    const kernels::KernelMatrixDevice device = kernel_device(function);
    if (circuit.given || kernels::effective_layers(circuit) != 0)
        return kernels::as_operator(
            [&] { return kernels::plan_operator_of_states(device, shape, circuit, options, shared); });
    return kernels::plan_operator({.limits = device.gram.limits,
                                   .float64 = device.gram.float64,
                                   .budget_bytes = device.budget_bytes,
                                   .compiled_ahead = true},
                                  shape, circuit.map, options);
}

OperatorObject::Samples make_samples(StreamHandle stream, const OperatorPlan& plan,
                                     const KernelMatrixCircuit* circuit, const ConstDeviceArray& x,
                                     const ConstDeviceArray* y) {
    kernels::check_operator_fits(plan);
    DeviceSamples made{plan, current_device(kFunction)};
    if (plan.states) {
        made.states = make_states(stream, plan, circuit, x, y);
    } else {
        made.x = numbers_of(stream, plan, circuit->scale, x, plan.shape.samples);
        if (y != nullptr) made.y = numbers_of(stream, plan, circuit->scale, *y, plan.shape.others);
    }
    return std::make_shared<const DeviceSamples>(std::move(made));
}

OperatorObject::Samples samples_here(const kernels::HostSamples& samples, bool shared) {
    const ConstHostArray &x = samples.x, *y = samples.y;
    const OperatorPlan plan =
        operator_plan_here(kFunction, samples.facts, samples.shape, samples.options, shared);
    kernels::check_operator_fits(plan);
    const OwnStream stream(kFunction);
    OperatorObject::Samples made;
    if (samples.circuit == nullptr) {  // states go to the device some at a time
        DeviceSamples own{plan, current_device(kFunction)};
        own.states = make_states(stream, plan, x, y);
        made = std::make_shared<const DeviceSamples>(std::move(own));
    } else {
        const Scratch of_x = uploaded(stream, x.data, x.bytes(), kFunction, "X");
        const Scratch of_y = y != nullptr ? uploaded(stream, y->data, y->bytes(), kFunction, "Y") : Scratch();
        const ConstDeviceArray x_array(of_x.data(), x.size, x.type);
        const ConstDeviceArray y_array(of_y.data(), y != nullptr ? y->size : 0, x.type);
        made = make_samples(stream, plan, samples.circuit, x_array, y != nullptr ? &y_array : nullptr);
    }
    stream.wait();
    return made;
}

}  // namespace weft::cuda
