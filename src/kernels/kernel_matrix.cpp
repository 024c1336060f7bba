// SPDX-License-Identifier: Apache-2.0
#include <weft/kernel_matrix.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include <weft/error.hpp>
#include <weft/profile.hpp>

#include "kernels/kernel_angles.hpp"
#include "kernels/kernel_blocks.hpp"
#include "kernels/kernel_check.hpp"
#include "kernels/kernel_device.hpp"
#include "kernels/kernel_plan.hpp"
#include "kernels/kernel_product.hpp"
#include "kernels/kernel_states.hpp"
#include "kernels/kernel_tuning.hpp"

namespace weft {
namespace {

using kernels::CircuitFacts;
using kernels::KernelPlan;

CircuitFacts circuit_facts(const KernelShape& shape, const KernelCircuit& circuit, bool on_host) {
    CircuitFacts facts;
    facts.map = circuit.map;
    facts.layers = kernels::check_circuit(shape, circuit);
    facts.reupload = circuit.reupload;
    facts.on_host = on_host;
    return facts;
}

CircuitFacts state_facts(StateType type, bool on_host) {
    CircuitFacts facts;
    facts.given = true;
    facts.given64 = type == StateType::complex128;
    facts.on_host = on_host;
    return facts;
}

void check_type(ValueType type) {
    if (type == ValueType::int64)
        throw Error(Errc::invalid_argument, "kernel_matrix: wrong type (got int64, need float32 or float64)");
}

template <class Type>
void check_same_type(Type x, Type y) {
    if (x != y)
        throw Error(Errc::invalid_argument, std::string("kernel_matrix: types differ (got X of ") +
                                                to_string(x) + " and Y of " + to_string(y) +
                                                ", need the same)");
}

// Options, shape and the lengths of all arrays; a row of X has `row` units.
template <class Array, class Target>
void check_arrays(const Array& x, const Array* y, const Target& k, const KernelShape& shape,
                  std::uint64_t row, const char* unit, const KernelMatrixOptions& options) {
    kernels::check_kernel_options(options);
    kernels::check_count("x", x.count, shape.samples * row, unit);
    if (y != nullptr) {
        kernels::check_count("y", y->count, shape.others * row, unit);
        check_same_type(x.type, y->type);
    }
    check_type(k.type);
    kernels::check_count("k", k.count, shape.values(), "values");
}

std::uint64_t check_state_shape(const KernelShape& shape, bool with_y) {
    kernels::check_kernel_shape(shape, with_y);
    if (shape.qubits > 40 || std::max(shape.samples, shape.others) > std::uint64_t{1} << (58 - shape.qubits))
        throw Error(Errc::invalid_argument, "kernel_matrix: too many amplitudes (got " +
                                                std::to_string(std::max(shape.samples, shape.others)) +
                                                " states of " + std::to_string(shape.qubits) +
                                                " qubits, need at most 2^58)");
    return std::uint64_t{1} << shape.qubits;
}

KernelPlan fitting_plan(const kernels::KernelDevice& device, const KernelShape& shape,
                        const CircuitFacts& circuit, ValueType type, const KernelMatrixOptions& options) {
    KernelPlan plan = kernels::plan_kernel(device, shape, circuit, type, options);
    const KernelEstimate estimate = kernels::estimate_kernel(plan, device, circuit, options);
    if (circuit.on_host ? !estimate.streamed_fits : !estimate.resident_fits)
        throw Error(Errc::out_of_memory, "kernel_matrix: " + estimate.reasons.back());
    return plan;
}

/// For a call on host memory, which may measure tiles first.
KernelPlan tuned_plan(Backend& backend, bool states, const KernelShape& shape, const CircuitFacts& circuit,
                      ValueType type, const KernelMatrixOptions& options) {
    kernels::KernelDevice device = kernels::kernel_device(backend, states, options);
    const KernelPlan plan = fitting_plan(device, shape, circuit, type, options);
    return kernels::tune_first(backend, device.gram, plan, options)
               ? fitting_plan(device, shape, circuit, type, options)
               : plan;
}

void features_resident(Stream& stream, const KernelFeatures& x, const KernelFeatures* y,
                       const KernelValues& k, const KernelShape& shape, const KernelCircuit& circuit,
                       const KernelMatrixOptions& options) {
    kernels::check_kernel_shape(shape, y != nullptr);
    check_arrays(x, y, k, shape, shape.qubits, "values", options);
    const CircuitFacts facts = circuit_facts(shape, circuit, false);
    const bool states = kernels::layers_that_matter(facts) != 0;
    const KernelPlan plan =
        fitting_plan(kernels::kernel_device(stream, states, options), shape, facts, k.type, options);
    if (plan.method == KernelMethod::product)
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
                     const KernelShape& shape, const KernelMatrixOptions& options) {
    const std::uint64_t row = check_state_shape(shape, y != nullptr);
    check_arrays(x, y, k, shape, row, "amplitudes", options);
    const KernelPlan plan = fitting_plan(kernels::kernel_device(stream, true, options), shape,
                                         state_facts(x.type, false), k.type, options);
    kernels::ResidentStates source(plan, x, y);
    kernels::blocks_resident(stream, plan, source, k, options);
}

/// Times a call on host memory.
class ReportMaker {
  public:
    ReportMaker(Backend& backend, const KernelMatrixOptions& options) {
        if (options.timings) profile_.emplace(backend);
    }
    KernelMatrixReport report(const KernelPlan& plan) const {
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
                                     const KernelTarget& k, const KernelShape& shape,
                                     const KernelCircuit& circuit, const KernelMatrixOptions& options) {
    const ReportMaker maker(backend, options);
    kernels::check_kernel_shape(shape, y != nullptr);
    check_type(x.type);
    check_arrays(x, y, k, shape, shape.qubits, "values", options);
    const CircuitFacts facts = circuit_facts(shape, circuit, true);
    for (const KernelSource* source : {&x, y}) {
        if (source == nullptr) continue;
        const char* what = source == y ? "y" : "x";
        const std::uint64_t unit = kernels::value_bytes(source->type);
        kernels::check_kernel_memory(what, source->data, source->count * unit, unit, k);
        kernels::check_features(what, *source, shape.qubits, circuit.scale, backend.plan().copy_threads);
    }
    const bool states = kernels::layers_that_matter(facts) != 0;
    const KernelPlan plan = tuned_plan(backend, states, shape, facts, k.type, options);
    if (plan.method == KernelMethod::product) {
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
                                   const KernelTarget& k, const KernelShape& shape,
                                   const KernelMatrixOptions& options) {
    const ReportMaker maker(backend, options);
    const std::uint64_t row = check_state_shape(shape, y != nullptr);
    check_arrays(x, y, k, shape, row, "amplitudes", options);
    for (const KernelStateSource* source : {&x, y}) {
        if (source == nullptr) continue;
        const char* what = source == y ? "y" : "x";
        const std::uint64_t bytes = kernels::amplitude_bytes(source->type);
        kernels::check_kernel_memory(what, source->data, source->count * bytes, bytes / 2, k);
        const bool wide = source->type == StateType::complex128;
        kernels::check_finite_states(
            what,
            KernelSource(source->data, source->count * 2, wide ? ValueType::float64 : ValueType::float32),
            row, backend.plan().copy_threads);
    }
    const KernelPlan plan = tuned_plan(backend, true, shape, state_facts(x.type, true), k.type, options);
    Stream stream(backend, {.name = "kernel matrix"});
    kernels::HostStates source(stream, plan, x, y);
    kernels::blocks_streamed(backend, stream, plan, source, k, options);
    return maker.report(plan);
}

KernelEstimate both_estimates(const Backend& backend, const KernelShape& shape, CircuitFacts facts,
                              ValueType type, const KernelMatrixOptions& options) {
    const bool states = facts.given || kernels::layers_that_matter(facts) != 0;
    const kernels::KernelDevice device = kernels::kernel_device(backend, states, options);
    const auto estimate = [&](bool on_host) {
        facts.on_host = on_host;
        return kernels::estimate_kernel(kernels::plan_kernel(device, shape, facts, type, options), device,
                                        facts, options);
    };
    const KernelEstimate resident = estimate(false);
    KernelEstimate both = estimate(true);
    both.resident_bytes = resident.resident_bytes;
    both.resident_fits = resident.resident_fits;
    return both;
}

}  // namespace

KernelEstimate estimate_kernel_matrix(const Backend& backend, const KernelShape& shape,
                                      const KernelCircuit& circuit, ValueType type,
                                      const KernelMatrixOptions& options) {
    kernels::check_kernel_options(options);
    kernels::check_kernel_shape(shape, shape.others != 0);
    check_type(type);
    return both_estimates(backend, shape, circuit_facts(shape, circuit, true), type, options);
}
KernelEstimate estimate_kernel_matrix(const Backend& backend, const KernelShape& shape, StateType states,
                                      ValueType type, const KernelMatrixOptions& options) {
    kernels::check_kernel_options(options);
    check_state_shape(shape, shape.others != 0);
    check_type(type);
    return both_estimates(backend, shape, state_facts(states, true), type, options);
}

void kernel_matrix(Stream& stream, const KernelFeatures& x, const KernelValues& k, const KernelShape& shape,
                   const KernelCircuit& circuit, const KernelMatrixOptions& options) {
    features_resident(stream, x, nullptr, k, shape, circuit, options);
}
void kernel_matrix(Stream& stream, const KernelFeatures& x, const KernelFeatures& y, const KernelValues& k,
                   const KernelShape& shape, const KernelCircuit& circuit,
                   const KernelMatrixOptions& options) {
    features_resident(stream, x, &y, k, shape, circuit, options);
}
void kernel_matrix(Stream& stream, const KernelStates& states, const KernelValues& k, const StateShape& shape,
                   const KernelMatrixOptions& options) {
    states_resident(stream, states, nullptr, k, {shape.samples, 0, shape.qubits}, options);
}
void kernel_matrix(Stream& stream, const KernelStates& x, const KernelStates& y, const KernelValues& k,
                   const KernelShape& shape, const KernelMatrixOptions& options) {
    states_resident(stream, x, &y, k, shape, options);
}

KernelMatrixReport kernel_matrix(Backend& backend, const KernelSource& x, const KernelTarget& k,
                                 const KernelShape& shape, const KernelCircuit& circuit,
                                 const KernelMatrixOptions& options) {
    return features_streamed(backend, x, nullptr, k, shape, circuit, options);
}
KernelMatrixReport kernel_matrix(Backend& backend, const KernelSource& x, const KernelSource& y,
                                 const KernelTarget& k, const KernelShape& shape,
                                 const KernelCircuit& circuit, const KernelMatrixOptions& options) {
    return features_streamed(backend, x, &y, k, shape, circuit, options);
}
KernelMatrixReport kernel_matrix(Backend& backend, const KernelStateSource& states, const KernelTarget& k,
                                 const KernelShape& shape, const KernelMatrixOptions& options) {
    return states_streamed(backend, states, nullptr, k, shape, options);
}
KernelMatrixReport kernel_matrix(Backend& backend, const KernelStateSource& x, const KernelStateSource& y,
                                 const KernelTarget& k, const KernelShape& shape,
                                 const KernelMatrixOptions& options) {
    return states_streamed(backend, x, &y, k, shape, options);
}

}  // namespace weft
