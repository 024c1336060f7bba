// SPDX-License-Identifier: Apache-2.0
#include <weft/kernel_matrix.hpp>

#include <algorithm>
#include <chrono>

#include <weft/error.hpp>

#include "kernels/kernel_check.hpp"
#include "kernels/kernel_plan.hpp"
#include "kernels/kernel_product.hpp"

namespace weft {
namespace {

kernels::KernelDevice facts_of(const DeviceInfo& device, const MemoryReport& memory) {
    kernels::KernelDevice facts{device.limits, device.shader_float64, 0};
    for (const MemoryReport::Heap& heap : memory.heaps) {
        if (!heap.device_local) continue;
        const std::uint64_t free =
            heap.budget == 0 ? heap.size : heap.budget - std::min(heap.usage, heap.budget);
        facts.budget_bytes = std::max(facts.budget_bytes, free);
    }
    return facts;
}

kernels::CircuitFacts facts_of(const KernelShape& shape, const KernelCircuit& circuit) {
    return {false, circuit.map, kernels::check_circuit(shape, circuit), circuit.reupload};
}

void check_type(ValueType type) {
    if (type == ValueType::int64)
        throw Error(Errc::invalid_argument, "kernel_matrix: wrong type (got int64, need float32 or float64)");
}

[[noreturn]] void does_not_fit(const KernelEstimate& estimate) {
    throw Error(Errc::out_of_memory, "kernel_matrix: " + estimate.reasons.back());
}

kernels::KernelPlan fitting_plan(const kernels::KernelDevice& device, const KernelShape& shape,
                                 const kernels::CircuitFacts& circuit, ValueType type, bool resident,
                                 const KernelMatrixOptions& options) {
    const kernels::KernelPlan plan = kernels::plan_kernel(device, shape, circuit, type, options);
    const KernelEstimate estimate = kernels::estimate_kernel(plan, device, circuit, options);
    if (resident ? !estimate.resident_fits : !estimate.streamed_fits) does_not_fit(estimate);
    return plan;
}

void check_y_type(ValueType x, ValueType y) {
    if (x != y)
        throw Error(Errc::invalid_argument, std::string("kernel_matrix: types differ (got X of ") +
                                                to_string(x) + " and Y of " + to_string(y) +
                                                ", need the same)");
}

void features_resident(Stream& stream, const KernelFeatures& x, const KernelFeatures* y,
                       const KernelValues& k, const KernelShape& shape, const KernelCircuit& circuit,
                       const KernelMatrixOptions& options) {
    kernels::check_kernel_options(options);
    kernels::check_kernel_shape(shape, y != nullptr);
    kernels::check_count("x", x.count, shape.samples * shape.qubits, "values");
    if (y != nullptr) {
        kernels::check_count("y", y->count, shape.others * shape.qubits, "values");
        check_y_type(x.type, y->type);
    }
    kernels::check_count("k", k.count, shape.values(), "values");
    const kernels::KernelPlan plan = fitting_plan(facts_of(stream.device(), detail::memory_report(stream)),
                                                  shape, facts_of(shape, circuit), k.type, true, options);
    kernels::product_resident(stream, plan, x, y, k, circuit.scale, options);
}

KernelMatrixReport features_streamed(Backend& backend, const KernelSource& x, const KernelSource* y,
                                     const KernelTarget& k, const KernelShape& shape,
                                     const KernelCircuit& circuit, const KernelMatrixOptions& options) {
    const auto begin = std::chrono::steady_clock::now();
    kernels::check_kernel_options(options);
    kernels::check_kernel_shape(shape, y != nullptr);
    check_type(x.type);
    check_type(k.type);
    kernels::check_count("x", x.count, shape.samples * shape.qubits, "values");
    if (y != nullptr) {
        kernels::check_count("y", y->count, shape.others * shape.qubits, "values");
        check_y_type(x.type, y->type);
    }
    kernels::check_count("k", k.count, shape.values(), "values");
    const kernels::CircuitFacts facts = facts_of(shape, circuit);
    for (const KernelSource* source : {&x, y}) {
        if (source == nullptr) continue;
        const char* what = source == y ? "y" : "x";
        const std::uint64_t unit = kernels::value_bytes(source->type);
        kernels::check_kernel_memory(what, source->data, source->count * unit, unit, k);
        kernels::check_features(what, *source, shape.qubits, circuit.scale, backend.plan().copy_threads);
    }
    const kernels::KernelPlan plan =
        fitting_plan(facts_of(backend.device(), backend.memory()), shape, facts, k.type, false, options);
    kernels::product_streamed(backend, plan, x, y, k, circuit.scale, options);
    KernelMatrixReport report;
    report.method = plan.method;
    report.pairs = shape.pairs();
    report.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return report;
}

}  // namespace

KernelEstimate estimate_kernel_matrix(const Backend& backend, const KernelShape& shape,
                                      const KernelCircuit& circuit, ValueType type,
                                      const KernelMatrixOptions& options) {
    kernels::check_kernel_options(options);
    kernels::check_kernel_shape(shape, shape.others != 0);
    check_type(type);
    const kernels::CircuitFacts facts = facts_of(shape, circuit);
    const kernels::KernelDevice device = facts_of(backend.device(), backend.memory());
    return kernels::estimate_kernel(kernels::plan_kernel(device, shape, facts, type, options), device, facts,
                                    options);
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

}  // namespace weft
