// SPDX-License-Identifier: Apache-2.0
#include <weft/cuda/kernel_matrix.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "cuda/aligned.hpp"
#include "cuda/check.hpp"
#include "ops_cuda/kernel_matrix/kernel_launch.hpp"
#include "ops_cuda/kernel_matrix/kernel_states.hpp"
#include "cuda/plan_device.hpp"
#include "ops/kernel_matrix/kernel_check.hpp"
#include "ops/kernel_matrix/kernel_plan.hpp"

namespace weft::cuda {
namespace {

using kernels::ArrayFacts;
using kernels::CircuitFacts;
using kernels::KernelMatrixPlan;

constexpr const char* kFunction = "kernel_matrix";

std::uint32_t word(std::uint64_t value) {
    return static_cast<std::uint32_t>(value);
}

// Tensor cores keep sums as exact as the Vulkan shader of this product requires; the conformance suite measures
// it.
kernels::KernelMatrixDevice device_facts() {
    require_device(kFunction);
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), kFunction, "cudaMemGetInfo");
    kernels::KernelMatrixDevice facts;
    facts.gram.limits = plan_device().limits;
    facts.gram.float64 = facts.gram.matrix_khr = facts.gram.matrix_exact = true;
    facts.gram.memory_bytes = facts.budget_bytes = free;
    facts.packs_apart = true;
    return facts;
}

void launch_product(StreamHandle stream, const KernelMatrixPlan& plan, const ConstDeviceArray& x,
                    const ConstDeviceArray* y, const DeviceArray& k, double scale,
                    const KernelMatrixOptions& options) {
    const Scratch planes = make_planes(stream, plan);
    launch_angles(stream, plan, x, plan.shape.samples, scale, false, planes.data(), 0);
    if (y != nullptr)
        launch_angles(stream, plan, *y, plan.shape.others, scale, false, planes.data(), plan.shape.samples);
    // Every value of a sample with itself is 1, so normalising leaves but the jitter.
    const double shrink = options.normalize && plan.shape.square() ? 1 / (1 + options.jitter) : 1;
    const std::uint64_t bits = plan.real64 ? std::bit_cast<std::uint64_t>(shrink)
                                           : std::bit_cast<std::uint32_t>(static_cast<float>(shrink));
    const std::uint64_t columns = plan.shape.columns(),
                        tiles_across = (columns + kernels::kProductTile - 1) / kernels::kProductTile;
    ProductLaunch launch{
        .stream = stream,
        .parts = plan.parts,
        .symmetric = plan.symmetric,
        .long_variant = plan.long_variant,
        .p = {plan.shape.qubits, word(plan.stride), 0, plan.shape.square() ? 0 : word(plan.shape.samples),
              word(columns), word(plan.shape.samples), 0, word(bits), word(bits >> 32)},
        .planes = planes.data(),
        .values = k.data};
    const auto go = [&] {
        check(static_cast<cudaError_t>(plan.real64 ? launch_kernel_product_real64(launch)
                                                   : launch_kernel_product_real32(launch)),
              kFunction, "the launch");
    };
    if (plan.symmetric) {
        launch.workgroups = tiles_across * (tiles_across + 1) / 2;
        launch.count = word(launch.workgroups);
        return go();
    }
    for (std::uint64_t row = 0; row < plan.shape.samples; row += plan.panel_rows) {
        const std::uint64_t rows = std::min(plan.panel_rows, plan.shape.samples - row);
        launch.count = word(rows * columns);
        launch.workgroups = (rows + kernels::kProductTile - 1) / kernels::kProductTile * tiles_across;
        launch.p.row_base = word(row);
        launch.values = static_cast<std::byte*>(k.data) + row * columns * plan.real_bytes();
        go();
    }
}

ArrayFacts facts_of(const ConstDeviceArray& array) {
    return {array.size, array.type};
}
std::optional<ArrayFacts> facts_of_other(const ConstDeviceArray* y) {
    return y != nullptr ? std::optional(facts_of(*y)) : std::nullopt;
}

void from_features(StreamHandle stream, const KernelMatrixCircuit& circuit, const ConstDeviceArray& x,
                   const ConstDeviceArray* y, const DeviceArray& k, const KernelMatrixShape& shape,
                   const KernelMatrixOptions& options) {
    const std::optional<ArrayFacts> other = facts_of_other(y);
    kernels::check_features(facts_of(x), other ? &*other : nullptr, facts_of(k), shape, options);
    kernels::check_no_autotune(options);
    const CircuitFacts facts = kernels::circuit_facts(shape, circuit, false);
    check_aligned(kFunction, k.data, "k");
    const KernelMatrixPlan plan = kernels::plan_that_fits(device_facts(), shape, facts, k.type, options);
    if (plan.method == KernelMatrixMethod::product)
        return launch_product(stream, plan, x, y, k, circuit.scale, options);
    const Scratch planes = make_planes(stream, plan);
    launch_angles(stream, plan, x, shape.samples, circuit.scale, true, planes.data(), 0);
    if (y != nullptr)
        launch_angles(stream, plan, *y, shape.others, circuit.scale, true, planes.data(), shape.samples);
    CircuitStates source(stream, plan, circuit, planes.data());
    launch_blocks(stream, plan, source, k, options);
}

void from_states(StreamHandle stream, const ConstDeviceArray& x, const ConstDeviceArray* y,
                 const DeviceArray& k, const KernelMatrixShape& shape, const KernelMatrixOptions& options) {
    const std::optional<ArrayFacts> other = facts_of_other(y);
    kernels::check_states(facts_of(x), other ? &*other : nullptr, facts_of(k), shape, options);
    kernels::check_no_autotune(options);
    check_aligned(kFunction, x.data, "x");
    if (y != nullptr) check_aligned(kFunction, y->data, "y");
    const KernelMatrixPlan plan = kernels::plan_that_fits(
        device_facts(), shape, kernels::state_facts(x.type, false), k.type, options);
    GivenStates source(plan, x, y);
    launch_blocks(stream, plan, source, k, options);
}

}  // namespace

void kernel_matrix(StreamHandle stream, const KernelMatrixCircuit& circuit, const ConstDeviceArray& x,
                   const DeviceArray& k, const KernelMatrixShape& shape, const KernelMatrixOptions& options) {
    from_features(stream, circuit, x, nullptr, k, shape, options);
}
void kernel_matrix(StreamHandle stream, const KernelMatrixCircuit& circuit, const ConstDeviceArray& x,
                   const ConstDeviceArray& y, const DeviceArray& k, const KernelMatrixShape& shape,
                   const KernelMatrixOptions& options) {
    from_features(stream, circuit, x, &y, k, shape, options);
}
void kernel_matrix(StreamHandle stream, const ConstDeviceArray& states, const DeviceArray& k,
                   const KernelMatrixShape& shape, const KernelMatrixOptions& options) {
    from_states(stream, states, nullptr, k, shape, options);
}
void kernel_matrix(StreamHandle stream, const ConstDeviceArray& states, const ConstDeviceArray& others,
                   const DeviceArray& k, const KernelMatrixShape& shape, const KernelMatrixOptions& options) {
    from_states(stream, states, &others, k, shape, options);
}

}  // namespace weft::cuda
