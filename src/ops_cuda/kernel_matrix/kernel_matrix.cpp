// SPDX-License-Identifier: Apache-2.0
#include <weft/cuda/kernel_matrix.hpp>

#include "cuda/check.hpp"
#include "ops/kernel_matrix/kernel_check.hpp"
#include "ops/kernel_matrix/kernel_plan.hpp"
#include "ops_cuda/kernel_matrix/kernel_blocks.hpp"
#include "ops_cuda/kernel_matrix/kernel_device.hpp"
#include "ops_cuda/kernel_matrix/kernel_product.hpp"
#include "ops_cuda/kernel_matrix/kernel_states.hpp"

namespace weft::cuda {
namespace {

using kernels::CircuitFacts;
using kernels::facts_of;
using kernels::KernelMatrixPlan;

constexpr const char* kFunction = "kernel_matrix";

void from_features(StreamHandle stream, const KernelMatrixCircuit& circuit, const ConstDeviceArray& x,
                   const ConstDeviceArray* y, const DeviceArray& k, const KernelMatrixShape& shape,
                   const KernelMatrixOptions& options) {
    kernels::check_features(facts_of(x), facts_of(y), facts_of(k), shape, options);
    kernels::check_no_autotune(options);
    const CircuitFacts facts = kernels::circuit_facts(shape, circuit, false);
    check_aligned(kFunction, k.data, "k");
    const KernelMatrixPlan plan = kernels::plan_that_fits(kernel_device(), shape, facts, k.type, options);
    if (plan.method == KernelMatrixMethod::product)
        return launch_product(stream, plan, angle_planes(stream, plan, x, y, circuit.scale), k, options);
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
        kernels::plan_that_fits(kernel_device(), shape, kernels::state_facts(x.type, false), k.type, options);
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
