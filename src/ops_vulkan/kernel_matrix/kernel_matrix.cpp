// SPDX-License-Identifier: Apache-2.0
#include <weft/ops/kernel_matrix.hpp>

#include <algorithm>
#include <array>
#include <optional>

#include <weft/profile.hpp>

#include "ops/kernel_matrix/kernel_check.hpp"
#include "ops/kernel_matrix/kernel_estimate.hpp"
#include "ops_vulkan/kernel_matrix/kernel_blocks.hpp"
#include "ops_vulkan/kernel_matrix/kernel_device.hpp"
#include "ops_vulkan/kernel_matrix/kernel_product.hpp"
#include "ops_vulkan/kernel_matrix/kernel_shares.hpp"
#include "ops_vulkan/kernel_matrix/kernel_states.hpp"

namespace weft {
namespace {

using kernels::CircuitFacts;
using kernels::facts_of;
using kernels::KernelMatrixPlan;

void features_resident(Stream& stream, const KernelMatrixCircuit& circuit, const ConstDeviceArray& x,
                       const ConstDeviceArray* y, const DeviceArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixOptions& options) {
    kernels::check_features(facts_of(x), facts_of(y), facts_of(k), shape, options);
    const CircuitFacts facts = kernels::circuit_facts(shape, circuit, false);
    const bool states = kernels::effective_layers(facts) != 0;
    const KernelMatrixPlan plan = kernels::plan_that_fits(
        kernels::kernel_device(stream, states, options, kernels::few_rows(shape, facts)), shape, facts,
        k.type(), options);
    if (plan.method == KernelMatrixMethod::product)
        return kernels::product_resident(stream, plan, x, y, k, circuit.scale, options);
    kernels::KernelMemory memory(stream);
    kernels::CircuitStates source(stream, memory, plan, circuit,
                                  kernels::angle_planes(stream, memory, plan, x, y, circuit.scale));
    kernels::blocks_resident(stream, memory, plan, source, k, options);
}

void states_resident(Stream& stream, const ConstDeviceArray& x, const ConstDeviceArray* y,
                     const DeviceArray& k, const KernelMatrixShape& shape,
                     const KernelMatrixOptions& options) {
    kernels::check_states(facts_of(x), facts_of(y), facts_of(k), shape, options);
    const CircuitFacts facts = kernels::state_facts(x.type(), false);
    const KernelMatrixPlan plan = kernels::plan_that_fits(
        kernels::kernel_device(stream, true, options, kernels::few_rows(shape, facts)), shape, facts,
        k.type(), options);
    kernels::ResidentStates source(plan, x, y);
    kernels::KernelMemory memory(stream);
    kernels::blocks_resident(stream, memory, plan, source, k, options);
}

/// The times of the device, from a profile of the call.
void add_device_times(OpReport& report, const Profile& profile) {
    constexpr std::array kOfStates{"kernel_angles", "kernel_states", "kernel_norms", "gram_pack"};
    constexpr std::array kOfProducts{"kernel_product", "gram_tile", "gram_matrix", "gram_reduce",
                                     "kernel_scale"};
    for (const KernelReport& kernel : profile.report().kernels) {
        const auto is = [&](const char* name) { return kernel.program == name; };
        if (std::any_of(kOfStates.begin(), kOfStates.end(), is)) report.states_s += kernel.times.busy_s;
        if (std::any_of(kOfProducts.begin(), kOfProducts.end(), is)) report.product_s += kernel.times.busy_s;
    }
}

OpReport run(Backend& backend, const kernels::HostMatrixCall& call) {
    std::optional<Profile> profile;
    if (call.batch.stage_times == Choice::on) profile.emplace(backend);
    const KernelMatrixPlan plan = kernels::plan_on(backend, call, call.options);
    const kernels::MatrixItems items = kernels::all_items(plan);
    const OpReport made = kernels::make_shares(backend, plan, call, items)
                              ->make({0, items.count()}, call.batch, call.shape.pairs(), {});
    OpReport report = kernels::report_of(call, plan);
    report.chunks = made.chunks;
    if (profile) add_device_times(report, *profile);
    return report;
}

KernelMatrixEstimate both_estimates(const Backend& backend, const KernelMatrixShape& shape,
                                    CircuitFacts facts, ElementType type,
                                    const KernelMatrixOptions& options) {
    const bool states = facts.given || kernels::effective_layers(facts) != 0;
    const kernels::KernelMatrixDevice device = kernels::kernel_device(backend, states, options);
    const auto estimate = [&](bool on_host) {
        facts.on_host = on_host;
        return kernels::estimate_kernel(kernels::plan_kernel(device, shape, facts, type, options), device,
                                        facts, options);
    };
    const KernelMatrixEstimate resident = estimate(false);
    KernelMatrixEstimate both = estimate(true);
    both.resident_bytes = resident.resident_bytes;
    both.resident_fits = resident.resident_fits;
    return both;
}

}  // namespace

KernelMatrixEstimate estimate_kernel_matrix(const Backend& backend, const KernelMatrixCircuit& circuit,
                                            const KernelMatrixShape& shape, ElementType type,
                                            const KernelMatrixOptions& options) {
    kernels::check_kernel_options(options);
    kernels::check_kernel_shape(shape, shape.others != 0);
    kernels::check_real_type("k", type);
    return both_estimates(backend, shape, kernels::circuit_facts(shape, circuit, true), type, options);
}
KernelMatrixEstimate estimate_kernel_matrix(const Backend& backend, ElementType states,
                                            const KernelMatrixShape& shape, ElementType type,
                                            const KernelMatrixOptions& options) {
    kernels::check_kernel_options(options);
    kernels::check_state_shape(shape, shape.others != 0);
    kernels::check_real_type("k", type);
    return both_estimates(backend, shape, kernels::state_facts(states, true), type, options);
}

void kernel_matrix(Stream& stream, const KernelMatrixCircuit& circuit, const ConstDeviceArray& x,
                   const DeviceArray& k, const KernelMatrixShape& shape, const KernelMatrixOptions& options) {
    features_resident(stream, circuit, x, nullptr, k, shape, options);
}
void kernel_matrix(Stream& stream, const KernelMatrixCircuit& circuit, const ConstDeviceArray& x,
                   const ConstDeviceArray& y, const DeviceArray& k, const KernelMatrixShape& shape,
                   const KernelMatrixOptions& options) {
    features_resident(stream, circuit, x, &y, k, shape, options);
}
void kernel_matrix(Stream& stream, const ConstDeviceArray& states, const DeviceArray& k,
                   const KernelMatrixShape& shape, const KernelMatrixOptions& options) {
    states_resident(stream, states, nullptr, k, shape, options);
}
void kernel_matrix(Stream& stream, const detail::GivenStates<ConstDeviceArray>& states,
                   const ConstDeviceArray& others, const DeviceArray& k, const KernelMatrixShape& shape,
                   const KernelMatrixOptions& options) {
    states_resident(stream, states, &others, k, shape, options);
}

OpReport kernel_matrix(Backend& backend, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                       const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options) {
    return run(backend, kernels::checked_features(circuit, x, nullptr, k, facts_of(k), shape, options,
                                                  backend.plan().copy_threads, true));
}
OpReport kernel_matrix(Backend& backend, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                       const ConstHostArray& y, const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options) {
    return run(backend, kernels::checked_features(circuit, x, &y, k, facts_of(k), shape, options,
                                                  backend.plan().copy_threads, true));
}
OpReport kernel_matrix(Backend& backend, const ConstHostArray& states, const HostArray& k,
                       const KernelMatrixShape& shape, const KernelMatrixHostOptions& options) {
    return run(backend, kernels::checked_states(states, nullptr, k, facts_of(k), shape, options,
                                                backend.plan().copy_threads, true));
}
OpReport kernel_matrix(Backend& backend, const detail::GivenStates<ConstHostArray>& states,
                       const ConstHostArray& others, const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options) {
    return run(backend, kernels::checked_states(states, &others, k, facts_of(k), shape, options,
                                                backend.plan().copy_threads, true));
}

}  // namespace weft
