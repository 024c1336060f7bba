// SPDX-License-Identifier: Apache-2.0
#include <weft/cuda/kernel_matrix.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>

#include "cuda/check.hpp"
#include "cuda/plan_device.hpp"
#include "ops/kernel_matrix/kernel_check.hpp"
#include "ops/kernel_matrix/kernel_plan.hpp"
#include "ops_cuda/kernel_matrix/kernel_launch.hpp"
#include "ops_cuda/kernel_matrix/kernel_states.hpp"

namespace weft::cuda {
namespace {

using kernels::CircuitFacts;
using kernels::divide_up;
using kernels::facts_of;
using kernels::KernelMatrixPlan;
using kernels::word;

constexpr const char* kFunction = "kernel_matrix";

// Tensor cores keep sums as exact as the Vulkan shader of this product requires, which the conformance suite
// measures.
kernels::KernelMatrixDevice device_facts() {
    require_device(kFunction);
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), kFunction, "cudaMemGetInfo");
    kernels::KernelMatrixDevice facts;
    facts.gram.limits = plan_device().limits;
    facts.gram.float64 = facts.gram.matrix_khr = facts.gram.matrix_exact = true;
    facts.budget_bytes = free;
    facts.packs_apart = true;
    return facts;
}

void launch_product(StreamHandle stream, const KernelMatrixPlan& plan, const ConstDeviceArray& x,
                    const ConstDeviceArray* y, const DeviceArray& k, double scale,
                    const KernelMatrixOptions& options) {
    const Scratch planes = angle_planes(stream, plan, x, y, scale);
    const std::uint64_t columns = plan.shape.columns(), tiles = divide_up(columns, kernels::kProductTile);
    ProductLaunch launch{.stream = stream,
                         .rz = plan.rz,
                         .symmetric = plan.symmetric,
                         .long_variant = plan.long_variant,
                         .p = kernels::product_parameters(plan, options),
                         .planes = planes.data(),
                         .values = k.data};
    const auto go = [&] {
        check_launch(
            plan.real64 ? launch_kernel_product_real64(launch) : launch_kernel_product_real32(launch),
            kFunction);
    };
    if (plan.symmetric) {
        launch.workgroups = tiles * (tiles + 1) / 2;
        launch.count = word(launch.workgroups);
        return go();
    }
    for (std::uint64_t row = 0; row < plan.shape.samples; row += plan.panel_rows) {
        const std::uint64_t rows = std::min(plan.panel_rows, plan.shape.samples - row);
        launch.count = word(rows * columns);
        launch.workgroups = divide_up(rows, kernels::kProductTile) * tiles;
        launch.p.row_base = word(row);
        launch.values = static_cast<std::byte*>(k.data) + row * columns * plan.real_bytes();
        go();
    }
}

void from_features(StreamHandle stream, const KernelMatrixCircuit& circuit, const ConstDeviceArray& x,
                   const ConstDeviceArray* y, const DeviceArray& k, const KernelMatrixShape& shape,
                   const KernelMatrixOptions& options) {
    kernels::check_features(facts_of(x), facts_of(y), facts_of(k), shape, options);
    kernels::check_no_autotune(options);
    const CircuitFacts facts = kernels::circuit_facts(shape, circuit, false);
    check_aligned(kFunction, k.data, "k");
    const KernelMatrixPlan plan = kernels::plan_that_fits(device_facts(), shape, facts, k.type, options);
    if (plan.method == KernelMatrixMethod::product)
        return launch_product(stream, plan, x, y, k, circuit.scale, options);
    CircuitStates source(stream, plan, circuit, angle_planes(stream, plan, x, y, circuit.scale));
    launch_blocks(stream, plan, source, k, options);
}

void from_states(StreamHandle stream, const ConstDeviceArray& x, const ConstDeviceArray* y,
                 const DeviceArray& k, const KernelMatrixShape& shape, const KernelMatrixOptions& options) {
    kernels::check_states(facts_of(x), facts_of(y), facts_of(k), shape, options);
    kernels::check_no_autotune(options);
    check_aligned(kFunction, x.data, "x");
    if (y != nullptr) check_aligned(kFunction, y->data, "y");
    const KernelMatrixPlan plan =
        kernels::plan_that_fits(device_facts(), shape, kernels::state_facts(x.type, false), k.type, options);
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
void kernel_matrix(StreamHandle stream, const weft::detail::GivenStates<ConstDeviceArray>& states,
                   const ConstDeviceArray& others, const DeviceArray& k, const KernelMatrixShape& shape,
                   const KernelMatrixOptions& options) {
    from_states(stream, states, &others, k, shape, options);
}

}  // namespace weft::cuda
