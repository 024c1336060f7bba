// SPDX-License-Identifier: Apache-2.0
#include <weft/ops/kernel_matrix.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include <weft/error.hpp>
#include <weft/profile.hpp>

#include "ops_vulkan/kernel_matrix/kernel_angles.hpp"
#include "ops/kernel_matrix/kernel_arrays_check.hpp"
#include "ops_vulkan/kernel_matrix/kernel_blocks.hpp"
#include "ops/kernel_matrix/kernel_check.hpp"
#include "ops_vulkan/kernel_matrix/kernel_device.hpp"
#include "ops/kernel_matrix/kernel_plan.hpp"
#include "ops_vulkan/kernel_matrix/kernel_product.hpp"
#include "ops_vulkan/kernel_matrix/kernel_states.hpp"
#include "ops_vulkan/kernel_matrix/kernel_tuning.hpp"

namespace weft {
namespace {

using kernels::CircuitFacts;
using kernels::KernelMatrixPlan;

/// For a call on host memory, which may measure tiles first.
KernelMatrixPlan tuned_plan(Backend& backend, bool states, const KernelMatrixShape& shape, const CircuitFacts& circuit,
                      ValueType type, const KernelMatrixOptions& options) {
    kernels::KernelMatrixDevice device = kernels::kernel_device(backend, states, options);
    const KernelMatrixPlan plan = kernels::plan_that_fits(device, shape, circuit, type, options);
    return kernels::tune_before(backend, device.gram, plan, options)
               ? kernels::plan_that_fits(device, shape, circuit, type, options)
               : plan;
}

void features_resident(Stream& stream, const KernelFeatures& x, const KernelFeatures* y,
                       const KernelValues& k, const KernelMatrixShape& shape, const KernelMatrixCircuit& circuit,
                       const KernelMatrixOptions& options) {
    kernels::check_kernel_shape(shape, y != nullptr);
    kernels::check_arrays(x, y, k, shape, shape.qubits, "values", options);
    const CircuitFacts facts = kernels::circuit_facts(shape, circuit, false);
    const bool states = kernels::effective_layers(facts) != 0;
    const KernelMatrixPlan plan =
        kernels::plan_that_fits(kernels::kernel_device(stream, states, options), shape, facts, k.type, options);
    if (plan.method == KernelMatrixMethod::product)
        return kernels::product_resident(stream, plan, x, y, k, circuit.scale, options);
    const Buffer<std::uint32_t> planes = kernels::make_planes(stream, plan);
    const kernels::AnglePlanes angles = kernels::planes_of(plan, planes);
    kernels::record_angles(stream, x, shape.samples, {circuit.scale, true}, angles, 0);
    if (y != nullptr)
        kernels::record_angles(stream, *y, shape.others, {circuit.scale, true}, angles, shape.samples);
    kernels::CircuitStates source(stream, plan, circuit, angles);
    kernels::blocks_resident(stream, plan, source, k, options);
}

void states_resident(Stream& stream, const KernelStates& x, const KernelStates* y, const KernelValues& k,
                     const KernelMatrixShape& shape, const KernelMatrixOptions& options) {
    const std::uint64_t row = kernels::check_state_shape(shape, y != nullptr);
    kernels::check_arrays(x, y, k, shape, row, "amplitudes", options);
    const KernelMatrixPlan plan = kernels::plan_that_fits(kernels::kernel_device(stream, true, options), shape,
                                                  kernels::state_facts(x.type, false), k.type, options);
    kernels::ResidentStates source(plan, x, y);
    kernels::blocks_resident(stream, plan, source, k, options);
}

/// Times a call on host memory.
class ReportMaker {
  public:
    ReportMaker(Backend& backend, const KernelMatrixOptions& options) {
        if (options.timings) profile_.emplace(backend);
    }
    KernelMatrixReport report(const KernelMatrixPlan& plan) const {
        KernelMatrixReport report;
        report.method = plan.method;
        report.pairs = plan.shape.pairs();
        report.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
        if (profile_) add_device_times(report);
        return report;
    }

  private:
    void add_device_times(KernelMatrixReport& report) const {
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
    std::optional<Profile> profile_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

KernelMatrixReport features_streamed(Backend& backend, const KernelSource& x, const KernelSource* y,
                                     const KernelTarget& k, const KernelMatrixShape& shape,
                                     const KernelMatrixCircuit& circuit, const KernelMatrixOptions& options) {
    const ReportMaker maker(backend, options);
    kernels::check_kernel_shape(shape, y != nullptr);
    kernels::check_type(x.type);
    kernels::check_arrays(x, y, k, shape, shape.qubits, "values", options);
    const CircuitFacts facts = kernels::circuit_facts(shape, circuit, true);
    for (const KernelSource* source : {&x, y}) {
        if (source == nullptr) continue;
        const char* what = source == y ? "y" : "x";
        const std::uint64_t unit = kernels::value_bytes(source->type);
        kernels::check_kernel_memory(what, source->data, source->count * unit, unit, k);
        kernels::check_features(what, *source, shape.qubits, circuit.scale, backend.plan().copy_threads);
    }
    const bool states = kernels::effective_layers(facts) != 0;
    const KernelMatrixPlan plan = tuned_plan(backend, states, shape, facts, k.type, options);
    if (plan.method == KernelMatrixMethod::product) {
        kernels::product_streamed(backend, plan, x, y, k, circuit.scale, options);
        return maker.report(plan);
    }
    Stream stream(backend, {.name = "kernel matrix"});
    const Buffer<std::uint32_t> planes = kernels::make_planes(stream, plan);
    const kernels::AnglePlanes angles = kernels::planes_of(plan, planes);
    kernels::angles_of_source(stream, x, shape.samples, {circuit.scale, true}, angles, 0);
    if (y != nullptr)
        kernels::angles_of_source(stream, *y, shape.others, {circuit.scale, true}, angles, shape.samples);
    kernels::CircuitStates source(stream, plan, circuit, angles);
    kernels::blocks_streamed(backend, stream, plan, source, k, options);
    return maker.report(plan);
}

KernelMatrixReport states_streamed(Backend& backend, const KernelStateSource& x, const KernelStateSource* y,
                                   const KernelTarget& k, const KernelMatrixShape& shape,
                                   const KernelMatrixOptions& options) {
    const ReportMaker maker(backend, options);
    const std::uint64_t row = kernels::check_state_shape(shape, y != nullptr);
    kernels::check_arrays(x, y, k, shape, row, "amplitudes", options);
    kernels::check_state_memory("x", x, k, row, backend.plan().copy_threads);
    if (y != nullptr) kernels::check_state_memory("y", *y, k, row, backend.plan().copy_threads);
    const KernelMatrixPlan plan =
        tuned_plan(backend, true, shape, kernels::state_facts(x.type, true), k.type, options);
    Stream stream(backend, {.name = "kernel matrix"});
    kernels::HostStates source(stream, plan, x, y);
    kernels::blocks_streamed(backend, stream, plan, source, k, options);
    return maker.report(plan);
}

KernelMatrixEstimate both_estimates(const Backend& backend, const KernelMatrixShape& shape, CircuitFacts facts,
                              ValueType type, const KernelMatrixOptions& options) {
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

KernelMatrixEstimate estimate_kernel_matrix(const Backend& backend, const KernelMatrixShape& shape,
                                      const KernelMatrixCircuit& circuit, ValueType type,
                                      const KernelMatrixOptions& options) {
    kernels::check_kernel_options(options);
    kernels::check_kernel_shape(shape, shape.others != 0);
    kernels::check_type(type);
    return both_estimates(backend, shape, kernels::circuit_facts(shape, circuit, true), type, options);
}
KernelMatrixEstimate estimate_kernel_matrix(const Backend& backend, const KernelMatrixShape& shape, StateType states,
                                      ValueType type, const KernelMatrixOptions& options) {
    kernels::check_kernel_options(options);
    kernels::check_state_shape(shape, shape.others != 0);
    kernels::check_type(type);
    return both_estimates(backend, shape, kernels::state_facts(states, true), type, options);
}

void kernel_matrix(Stream& stream, const KernelFeatures& x, const KernelValues& k, const KernelMatrixShape& shape,
                   const KernelMatrixCircuit& circuit, const KernelMatrixOptions& options) {
    features_resident(stream, x, nullptr, k, shape, circuit, options);
}
void kernel_matrix(Stream& stream, const KernelFeatures& x, const KernelFeatures& y, const KernelValues& k,
                   const KernelMatrixShape& shape, const KernelMatrixCircuit& circuit,
                   const KernelMatrixOptions& options) {
    features_resident(stream, x, &y, k, shape, circuit, options);
}
void kernel_matrix(Stream& stream, const KernelStates& states, const KernelValues& k, const StateShape& shape,
                   const KernelMatrixOptions& options) {
    states_resident(stream, states, nullptr, k, {shape.samples, 0, shape.qubits}, options);
}
void kernel_matrix(Stream& stream, const KernelStates& x, const KernelStates& y, const KernelValues& k,
                   const KernelMatrixShape& shape, const KernelMatrixOptions& options) {
    states_resident(stream, x, &y, k, shape, options);
}

KernelMatrixReport kernel_matrix(Backend& backend, const KernelSource& x, const KernelTarget& k,
                                 const KernelMatrixShape& shape, const KernelMatrixCircuit& circuit,
                                 const KernelMatrixOptions& options) {
    return features_streamed(backend, x, nullptr, k, shape, circuit, options);
}
KernelMatrixReport kernel_matrix(Backend& backend, const KernelSource& x, const KernelSource& y,
                                 const KernelTarget& k, const KernelMatrixShape& shape,
                                 const KernelMatrixCircuit& circuit, const KernelMatrixOptions& options) {
    return features_streamed(backend, x, &y, k, shape, circuit, options);
}
KernelMatrixReport kernel_matrix(Backend& backend, const KernelStateSource& states, const KernelTarget& k,
                                 const KernelMatrixShape& shape, const KernelMatrixOptions& options) {
    return states_streamed(backend, states, nullptr, k, shape, options);
}
KernelMatrixReport kernel_matrix(Backend& backend, const KernelStateSource& x, const KernelStateSource& y,
                                 const KernelTarget& k, const KernelMatrixShape& shape,
                                 const KernelMatrixOptions& options) {
    return states_streamed(backend, x, &y, k, shape, options);
}

}  // namespace weft
