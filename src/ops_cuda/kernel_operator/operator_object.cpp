// SPDX-License-Identifier: Apache-2.0
#include "ops_cuda/kernel_operator/operator_object.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <string>
#include <utility>

#include <weft/error.hpp>

#include "cuda/check.hpp"
#include "cuda/plan_device.hpp"
#include "cuda/scratch.hpp"
#include "ops/kernel_matrix/gram_plan.hpp"
#include "ops/kernel_operator/operator_parameters.hpp"
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

}  // namespace

DeviceMemory::DeviceMemory(std::uint64_t bytes) {
    void* data = nullptr;
    const std::string call = "cudaMalloc of " + std::to_string(bytes) + " bytes for operator samples";
    check(cudaMalloc(&data, bytes), kFunction, call.c_str());
    data_ = static_cast<std::byte*>(data);
}
DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
}
DeviceMemory::~DeviceMemory() {
    if (data_ != nullptr) static_cast<void>(cudaFree(data_));  // waits for the work of the device
}

OperatorObject::OperatorObject(StreamHandle stream, const OperatorPlan& plan, double scale,
                               const ConstDeviceArray& x, const ConstDeviceArray* y)
    : plan_(plan), device_(current_device(kFunction)) {
    kernels::check_operator_fits(plan);
    x_ = DeviceMemory(plan.shape.samples * plan.sample_bytes());
    launch_numbers(stream, plan, scale, x, plan.shape.samples, x_.data());
    if (y == nullptr) return;
    y_ = DeviceMemory(plan.shape.others * plan.sample_bytes());
    launch_numbers(stream, plan, scale, *y, plan.shape.others, y_.data());
}

void OperatorObject::require_here(const char* function) const {
    if (const int here = current_device(function); here != device_)
        throw Error(Errc::invalid_argument,
                    std::string(function) + ": the operator is on another CUDA device (got " +
                        std::to_string(here) + " as the current one, need " + std::to_string(device_) + ")");
}

const std::byte* OperatorObject::rows(bool transpose, std::uint64_t first) const {
    return (transpose && y_.data() != nullptr ? y_ : x_).data() + first * plan_.sample_bytes();
}
const std::byte* OperatorObject::columns(bool transpose, std::uint64_t first) const {
    return rows(!transpose, first);
}

OperatorPlan operator_plan_here(const char* function, const KernelMatrixCircuit& circuit,
                                const KernelMatrixShape& shape, const KernelOperatorOptions& options) {
    require_device(function);
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), function, "cudaMemGetInfo");
    kernels::OperatorDevice device;
    device.limits = plan_device().limits;
    device.float64 = true;
    device.budget_bytes = free + kept_scratch_bytes(function);
    device.compiled_ahead = true;
    return kernels::plan_operator(device, shape, circuit.map, options);
}

}  // namespace weft::cuda
