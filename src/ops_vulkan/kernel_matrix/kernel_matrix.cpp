// SPDX-License-Identifier: Apache-2.0
#include <weft/ops/kernel_matrix.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>

#include <weft/profile.hpp>

#include "ops/kernel_matrix/kernel_check.hpp"
#include "ops/kernel_matrix/kernel_estimate.hpp"
#include "ops_vulkan/kernel_matrix/kernel_blocks.hpp"
#include "ops_vulkan/kernel_matrix/kernel_device.hpp"
#include "ops_vulkan/kernel_matrix/kernel_product.hpp"
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
    const KernelMatrixPlan plan = kernels::plan_that_fits(kernels::kernel_device(stream, states, options),
                                                          shape, facts, k.type(), options);
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
    const KernelMatrixPlan plan =
        kernels::plan_that_fits(kernels::kernel_device(stream, true, options), shape,
                                kernels::state_facts(x.type(), false), k.type(), options);
    kernels::ResidentStates source(plan, x, y);
    kernels::KernelMemory memory(stream);
    kernels::blocks_resident(stream, memory, plan, source, k, options);
}

/// A call on host memory, which may measure tiles first and is timed.
class HostCall {
  public:
    HostCall(Backend& backend, const KernelMatrixShape& shape, const KernelMatrixHostOptions& host)
        : options(kernels::host_options(host, true)), backend_(backend), shape_(shape), batch_(host.batch) {
        if (batch_.stage_times == Choice::on) profile_.emplace(backend);
    }
    const KernelMatrixOptions options;

    KernelMatrixPlan plan(bool states, const CircuitFacts& circuit, ElementType type) const {
        kernels::KernelMatrixDevice device = kernels::kernel_device(backend_, states, options);
        KernelMatrixPlan made = kernels::plan_that_fits(device, shape_, circuit, type, options);
        if (kernels::tune_before(backend_, device.gram, made, options, batch_))
            kernels::take_measured_tile(made, device, circuit.on_host, options);
        return made;
    }
    OpReport report(const KernelMatrixPlan& plan, const ConstHostArray& x, const ConstHostArray* y,
                    const HostArray& k) const {
        OpReport report = kernels::kernel_report(shape_, plan.method, x, y, k);
        report.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
        if (profile_) add_device_times(report);
        return report;
    }

  private:
    void add_device_times(OpReport& report) const {
        constexpr std::array kOfStates{"kernel_angles", "kernel_states", "kernel_norms", "gram_pack"};
        constexpr std::array kOfProducts{"kernel_product", "gram_tile", "gram_matrix", "gram_reduce",
                                         "kernel_scale"};
        for (const KernelReport& kernel : profile_->report().kernels) {
            const auto is = [&](const char* name) { return kernel.program == name; };
            if (std::any_of(kOfStates.begin(), kOfStates.end(), is)) report.states_s += kernel.times.busy_s;
            if (std::any_of(kOfProducts.begin(), kOfProducts.end(), is))
                report.product_s += kernel.times.busy_s;
        }
    }
    Backend& backend_;
    const KernelMatrixShape& shape_;
    const BatchOptions& batch_;
    std::optional<Profile> profile_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

OpReport features_streamed(Backend& backend, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                           const ConstHostArray* y, const HostArray& k, const KernelMatrixShape& shape,
                           const KernelMatrixHostOptions& host) {
    const HostCall call(backend, shape, host);
    kernels::check_features(facts_of(x), facts_of(y), facts_of(k), shape, call.options);
    const CircuitFacts facts = kernels::circuit_facts(shape, circuit, true);
    kernels::check_host_features(x, y, k, shape, circuit.scale, backend.plan().copy_threads);
    const KernelMatrixPlan plan = call.plan(kernels::effective_layers(facts) != 0, facts, k.type);
    kernels::KeptScratch scratch(backend, kernels::sizes_of(plan, x.type));
    if (plan.method == KernelMatrixMethod::product) {
        kernels::StreamedRows rows(backend, *scratch, plan, x, y, k, circuit.scale, call.options);
        const std::array all{kernels::RowRange{0, shape.samples}};
        rows.make(all, host.batch, shape.pairs());
    } else {
        kernels::CircuitStates source(
            scratch->stream, scratch->memory, plan, circuit,
            kernels::angle_planes(scratch->stream, scratch->memory, plan, x, y, circuit.scale));
        kernels::StreamedBlocks blocks(backend, *scratch, plan, source, k, call.options);
        blocks.make(kernels::host_blocks(plan), host.batch, shape.pairs());
    }
    scratch.keep();
    return call.report(plan, x, y, k);
}

OpReport states_streamed(Backend& backend, const ConstHostArray& x, const ConstHostArray* y,
                         const HostArray& k, const KernelMatrixShape& shape,
                         const KernelMatrixHostOptions& host) {
    const HostCall call(backend, shape, host);
    kernels::check_states(facts_of(x), facts_of(y), facts_of(k), shape, call.options);
    kernels::check_host_states(x, y, k, shape, backend.plan().copy_threads);
    const KernelMatrixPlan plan = call.plan(true, kernels::state_facts(x.type, true), k.type);
    kernels::KeptScratch scratch(backend, kernels::sizes_of(plan, x.type));
    kernels::HostStates source(scratch->memory, plan, x, y);
    {
        kernels::StreamedBlocks blocks(backend, *scratch, plan, source, k, call.options);
        blocks.make(kernels::host_blocks(plan), host.batch, shape.pairs());
    }
    scratch.keep();
    return call.report(plan, x, y, k);
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
    return features_streamed(backend, circuit, x, nullptr, k, shape, options);
}
OpReport kernel_matrix(Backend& backend, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                       const ConstHostArray& y, const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options) {
    return features_streamed(backend, circuit, x, &y, k, shape, options);
}
OpReport kernel_matrix(Backend& backend, const ConstHostArray& states, const HostArray& k,
                       const KernelMatrixShape& shape, const KernelMatrixHostOptions& options) {
    return states_streamed(backend, states, nullptr, k, shape, options);
}
OpReport kernel_matrix(Backend& backend, const detail::GivenStates<ConstHostArray>& states,
                       const ConstHostArray& others, const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options) {
    return states_streamed(backend, states, &others, k, shape, options);
}

}  // namespace weft
