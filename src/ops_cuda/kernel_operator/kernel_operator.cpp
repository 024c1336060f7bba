// SPDX-License-Identifier: Apache-2.0
#include <weft/cuda/kernel_operator.hpp>

#include <utility>
#include <vector>

#include "cuda/check.hpp"
#include "cuda/streamed_chunks.hpp"
#include "ops/kernel_operator/operator_check.hpp"
#include "ops/kernel_operator/operator_sharing.hpp"
#include "ops_cuda/kernel_operator/operator_apply.hpp"

namespace weft::cuda {
namespace {

using kernels::facts_of;

constexpr const char* kFunction = "KernelOperator";

std::shared_ptr<const OperatorObject> alone(OperatorObject::Samples samples,
                                            const KernelMatrixCircuit* circuit) {
    const kernels::OperatorPlan& plan = samples->plan;
    kernels::StoreFacts facts = kernels::operator_facts(circuit, plan.shape, plan.options);
    return std::make_shared<const OperatorObject>(std::vector{std::move(samples)}, std::move(facts));
}

/// `circuit` is null if states are given; `y` may be null.
std::shared_ptr<const OperatorObject> resident(StreamHandle stream, const KernelMatrixCircuit* circuit,
                                               const ConstDeviceArray& x, const ConstDeviceArray* y,
                                               const KernelMatrixShape& shape,
                                               const KernelOperatorOptions& options) {
    const kernels::CircuitFacts facts =
        circuit != nullptr ? kernels::check_operator(*circuit, facts_of(x), facts_of(y), shape, options)
                           : kernels::check_given_operator(facts_of(x), facts_of(y), shape, options);
    check_aligned(kFunction, x.data, "x");
    if (y != nullptr) check_aligned(kFunction, y->data, "y");
    return alone(make_samples(stream, operator_plan_here(kFunction, facts, shape, options), circuit, x, y),
                 circuit);
}

std::shared_ptr<const OperatorObject> from_host(const KernelMatrixCircuit* circuit, const ConstHostArray& x,
                                                const ConstHostArray* y, const KernelMatrixShape& shape,
                                                const KernelOperatorOptions& options) {
    return alone(
        samples_here(kernels::checked_samples(kFunction, circuit, x, y, shape, options, host_threads())),
        circuit);
}

/// Arrays of device memory have the rules of host memory: a pointer, its type's alignment, no overlap.
void check_arrays(const char* function, const ConstDeviceArray* v, const DeviceArray& out) {
    const ConstHostArray in = v != nullptr ? ConstHostArray{v->data, v->size, v->type} : ConstHostArray{};
    kernels::check_out_memory(function, v != nullptr ? &in : nullptr, {out.data, out.size, out.type});
}

}  // namespace

KernelOperatorEstimate estimate_kernel_operator(const KernelMatrixCircuit& circuit,
                                                const KernelMatrixShape& shape, std::uint32_t columns,
                                                const KernelOperatorOptions& options) {
    const kernels::CircuitFacts facts = kernels::check_operator(circuit, shape, shape.others != 0, options);
    kernels::check_columns(columns);
    return kernels::estimate_operator(operator_plan_here("estimate_kernel_operator", facts, shape, options),
                                      columns);
}
KernelOperatorEstimate estimate_kernel_operator(ElementType states, const KernelMatrixShape& shape,
                                                std::uint32_t columns, const KernelOperatorOptions& options) {
    const kernels::CircuitFacts facts =
        kernels::check_given_operator(states, shape, shape.others != 0, options);
    kernels::check_columns(columns);
    return kernels::estimate_operator(operator_plan_here("estimate_kernel_operator", facts, shape, options),
                                      columns);
}

KernelOperator::KernelOperator(StreamHandle stream, const KernelMatrixCircuit& circuit,
                               const ConstDeviceArray& x, const KernelMatrixShape& shape,
                               const KernelOperatorOptions& options)
    : object_(resident(stream, &circuit, x, nullptr, shape, options)) {}
KernelOperator::KernelOperator(StreamHandle stream, const KernelMatrixCircuit& circuit,
                               const ConstDeviceArray& x, const ConstDeviceArray& y,
                               const KernelMatrixShape& shape, const KernelOperatorOptions& options)
    : object_(resident(stream, &circuit, x, &y, shape, options)) {}
KernelOperator::KernelOperator(StreamHandle stream, const ConstDeviceArray& states,
                               const KernelMatrixShape& shape, const KernelOperatorOptions& options)
    : object_(resident(stream, nullptr, states, nullptr, shape, options)) {}
KernelOperator::KernelOperator(StreamHandle stream, const weft::detail::GivenStates<ConstDeviceArray>& states,
                               const ConstDeviceArray& others, const KernelMatrixShape& shape,
                               const KernelOperatorOptions& options)
    : object_(resident(stream, nullptr, states, &others, shape, options)) {}
KernelOperator::KernelOperator(const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                               const KernelMatrixShape& shape, const KernelOperatorOptions& options)
    : object_(from_host(&circuit, x, nullptr, shape, options)) {}
KernelOperator::KernelOperator(const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                               const ConstHostArray& y, const KernelMatrixShape& shape,
                               const KernelOperatorOptions& options)
    : object_(from_host(&circuit, x, &y, shape, options)) {}
KernelOperator::KernelOperator(const ConstHostArray& states, const KernelMatrixShape& shape,
                               const KernelOperatorOptions& options)
    : object_(from_host(nullptr, states, nullptr, shape, options)) {}
KernelOperator::KernelOperator(const weft::detail::GivenStates<ConstHostArray>& states,
                               const ConstHostArray& others, const KernelMatrixShape& shape,
                               const KernelOperatorOptions& options)
    : object_(from_host(nullptr, states, &others, shape, options)) {}

const KernelMatrixShape& KernelOperator::shape() const {
    return object_->first().plan.shape;
}
ElementType KernelOperator::type() const {
    return object_->first().plan.options.type;
}
KernelOperatorEstimate KernelOperator::estimate(std::uint32_t columns) const {
    kernels::check_columns(columns);
    return kernels::estimate_shared(object_->plans(), columns);
}

void kernel_apply(StreamHandle stream, const KernelOperator& k, const ConstDeviceArray& v,
                  const DeviceArray& out, const KernelApplyOptions& options) {
    const OperatorObject& object = *weft::detail::Access::object(k);
    const std::uint32_t columns =
        kernels::check_apply(object.first().plan, facts_of(v), facts_of(out), options);
    check_arrays("kernel_apply", &v, out);
    const OperatorApplyCall call(object.here("kernel_apply"), columns, options, Choice::automatic);
    call.launch(stream, v.data, out.data, {0, call.side().rows}, [](std::uint64_t) {});
}

void kernel_rows(StreamHandle stream, const KernelOperator& k, const std::vector<std::uint32_t>& rows,
                 const DeviceArray& out) {
    const OperatorObject& object = *weft::detail::Access::object(k);
    kernels::check_rows(object.first().plan, rows, facts_of(out));
    if (rows.empty()) return;
    check_arrays("kernel_rows", nullptr, out);
    launch_rows(stream, object.here("kernel_rows"), rows, out, [](std::uint64_t) {});
}

void kernel_diagonal(StreamHandle stream, const KernelOperator& k, const DeviceArray& out) {
    const OperatorObject& object = *weft::detail::Access::object(k);
    kernels::check_diagonal(object.first().plan, facts_of(out));
    check_arrays("kernel_diagonal", nullptr, out);
    launch_diagonal(stream, object.here("kernel_diagonal"), out, [](std::uint64_t) {});
}

}  // namespace weft::cuda
