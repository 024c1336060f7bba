// SPDX-License-Identifier: Apache-2.0
#include <weft/ops/kernel_operator.hpp>

#include <chrono>
#include <utility>
#include <vector>

#include "base/batch_call.hpp"
#include "ops/kernel_operator/operator_check.hpp"
#include "ops_vulkan/kernel_operator/operator_apply.hpp"
#include "ops_vulkan/kernel_operator/operator_host.hpp"
#include "ops_vulkan/kernel_operator/operator_object.hpp"
#include "ops_vulkan/kernel_operator/operator_rows.hpp"

namespace weft {
namespace {

using kernels::DeviceSamples;
using kernels::facts_of;
using kernels::OperatorObject;
using kernels::OperatorPlan;
using ObjectPointer = std::shared_ptr<const OperatorObject>;

/// `circuit` is null if states are given; `y` may be null.
ObjectPointer resident(Stream& stream, const KernelMatrixCircuit* circuit, const ConstDeviceArray& x,
                       const ConstDeviceArray* y, const KernelMatrixShape& shape,
                       const KernelOperatorOptions& options) {
    const kernels::CircuitFacts facts =
        circuit != nullptr ? kernels::check_operator(*circuit, facts_of(x), facts_of(y), shape, options)
                           : kernels::check_given_operator(facts_of(x), facts_of(y), shape, options);
    const OperatorPlan plan = kernels::operator_plan_on(stream, facts, shape, options);
    std::vector<DeviceSamples> devices;
    devices.push_back(kernels::make_samples(stream, plan, circuit, x, y));
    return std::make_shared<const OperatorObject>(std::move(devices),
                                                  kernels::operator_facts(circuit, shape, options));
}

ObjectPointer from_host(Backend& backend, const KernelMatrixCircuit* circuit, const ConstHostArray& x,
                        const ConstHostArray* y, const KernelMatrixShape& shape,
                        const KernelOperatorOptions& options) {
    std::vector<DeviceSamples> devices;
    devices.push_back(
        kernels::samples_on(backend, kernels::checked_samples("KernelOperator", circuit, x, y, shape, options,
                                                              backend.plan().copy_threads)));
    return std::make_shared<const OperatorObject>(std::move(devices),
                                                  kernels::operator_facts(circuit, shape, options));
}

}  // namespace

KernelOperatorEstimate estimate_kernel_operator(const Backend& backend, const KernelMatrixCircuit& circuit,
                                                const KernelMatrixShape& shape, std::uint32_t columns,
                                                const KernelOperatorOptions& options) {
    const kernels::CircuitFacts facts = kernels::check_operator(circuit, shape, shape.others != 0, options);
    kernels::check_columns(columns);
    return kernels::estimate_operator(kernels::operator_plan_on(backend, facts, shape, options), columns);
}
KernelOperatorEstimate estimate_kernel_operator(const Backend& backend, ElementType states,
                                                const KernelMatrixShape& shape, std::uint32_t columns,
                                                const KernelOperatorOptions& options) {
    const kernels::CircuitFacts facts =
        kernels::check_given_operator(states, shape, shape.others != 0, options);
    kernels::check_columns(columns);
    return kernels::estimate_operator(kernels::operator_plan_on(backend, facts, shape, options), columns);
}

KernelOperator::KernelOperator(Stream& stream, const KernelMatrixCircuit& circuit, const ConstDeviceArray& x,
                               const KernelMatrixShape& shape, const KernelOperatorOptions& options)
    : object_(resident(stream, &circuit, x, nullptr, shape, options)) {}
KernelOperator::KernelOperator(Stream& stream, const KernelMatrixCircuit& circuit, const ConstDeviceArray& x,
                               const ConstDeviceArray& y, const KernelMatrixShape& shape,
                               const KernelOperatorOptions& options)
    : object_(resident(stream, &circuit, x, &y, shape, options)) {}
KernelOperator::KernelOperator(Backend& backend, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                               const KernelMatrixShape& shape, const KernelOperatorOptions& options)
    : object_(from_host(backend, &circuit, x, nullptr, shape, options)) {}
KernelOperator::KernelOperator(Backend& backend, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                               const ConstHostArray& y, const KernelMatrixShape& shape,
                               const KernelOperatorOptions& options)
    : object_(from_host(backend, &circuit, x, &y, shape, options)) {}
KernelOperator::KernelOperator(Stream& stream, const ConstDeviceArray& states, const KernelMatrixShape& shape,
                               const KernelOperatorOptions& options)
    : object_(resident(stream, nullptr, states, nullptr, shape, options)) {}
KernelOperator::KernelOperator(Stream& stream, const detail::GivenStates<ConstDeviceArray>& states,
                               const ConstDeviceArray& others, const KernelMatrixShape& shape,
                               const KernelOperatorOptions& options)
    : object_(resident(stream, nullptr, states, &others, shape, options)) {}
KernelOperator::KernelOperator(Backend& backend, const ConstHostArray& states, const KernelMatrixShape& shape,
                               const KernelOperatorOptions& options)
    : object_(from_host(backend, nullptr, states, nullptr, shape, options)) {}
KernelOperator::KernelOperator(Backend& backend, const detail::GivenStates<ConstHostArray>& states,
                               const ConstHostArray& others, const KernelMatrixShape& shape,
                               const KernelOperatorOptions& options)
    : object_(from_host(backend, nullptr, states, &others, shape, options)) {}

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

void kernel_apply(Stream& stream, const KernelOperator& k, const ConstDeviceArray& v, const DeviceArray& out,
                  const KernelApplyOptions& options) {
    const DeviceSamples& samples =
        detail::Access::object(k)->on("kernel_apply", detail::Access::backend_state(stream));
    const std::uint32_t columns = kernels::check_apply(samples.plan, facts_of(v), facts_of(out), options);
    kernels::KernelMemory memory(stream);
    const kernels::ApplyCall call(samples, columns, options, Choice::automatic);
    call.record(stream, memory, v, out, {0, call.side().rows}, [](std::uint64_t) {});
}

OpReport kernels::apply_rows(Backend& backend, const KernelOperator& k, const ConstHostArray& v,
                             const HostArray& out, const ApplyRows& rows,
                             const KernelApplyHostOptions& host) {
    return apply_rows(backend, samples_on(backend, k), v, out, rows, host);
}
OpReport kernels::apply_rows(Backend& backend, const DeviceSamples& samples, const ConstHostArray& v,
                             const HostArray& out, const ApplyRows& rows,
                             const KernelApplyHostOptions& host) {
    const auto begin = std::chrono::steady_clock::now();
    const KernelApplyOptions options = apply_options(host);
    const ApplySide side = side_of(samples.plan, options.transpose);
    const bool all = rows.first == 0 && rows.last == side.rows;
    const ApplyCall call(samples, static_cast<std::uint32_t>(v.size / side.columns), options,
                         all ? Choice::automatic : Choice::off);
    const std::uint64_t pairs = call.pairs(rows);
    core::ProgressMeter meter("kernel_apply", host.batch, pairs);
    meter.check();
    HostApply work(backend, call, v);
    std::uint64_t done = 0;
    work.make(rows, out, options.b != 0, [&](std::uint64_t some) { meter.show(done += some); });
    OpReport report = operator_report("kernel_apply", pairs, v.bytes(), out);
    report.method = to_string(call.method());
    report.chunks = meter.parts();
    report.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return report;
}

OpReport kernel_apply(Backend& backend, const KernelOperator& k, const ConstHostArray& v,
                      const HostArray& out, const KernelApplyHostOptions& host) {
    core::require_members("kernel_apply", host.batch, {});
    const KernelApplyOptions options = kernels::apply_options(host);
    const DeviceSamples& samples = kernels::samples_on(backend, k);
    kernels::check_apply(samples.plan, facts_of(v), facts_of(out), options);
    kernels::check_out_memory("kernel_apply", &v, out);
    return kernels::apply_rows(backend, samples, v, out,
                               {0, kernels::side_of(samples.plan, options.transpose).rows}, host);
}

void kernel_rows(Stream& stream, const KernelOperator& k, const std::vector<std::uint32_t>& rows,
                 const DeviceArray& out) {
    const DeviceSamples& samples =
        detail::Access::object(k)->on("kernel_rows", detail::Access::backend_state(stream));
    kernels::check_rows(samples.plan, rows, facts_of(out));
    if (rows.empty()) return;
    kernels::record_rows(stream, samples, rows, out, [](std::uint64_t) {});
}
OpReport kernel_rows(Backend& backend, const KernelOperator& k, const std::vector<std::uint32_t>& rows,
                     const HostArray& out, const BatchOptions& batch) {
    core::require_members("kernel_rows", batch, {});
    const DeviceSamples& samples =
        detail::Access::object(k)->on("kernel_rows", detail::Access::backend_state(backend));
    kernels::check_rows(samples.plan, rows, facts_of(out));
    if (rows.empty()) return kernels::operator_report("kernel_rows", 0, 0, out);
    kernels::check_out_memory("kernel_rows", nullptr, out);
    return kernels::rows_in_host_memory(backend, samples, rows, out, batch);
}

void kernel_diagonal(Stream& stream, const KernelOperator& k, const DeviceArray& out) {
    const DeviceSamples& samples =
        detail::Access::object(k)->on("kernel_diagonal", detail::Access::backend_state(stream));
    kernels::check_diagonal(samples.plan, facts_of(out));
    kernels::record_diagonal(stream, samples, out, [](std::uint64_t) {});
}
OpReport kernel_diagonal(Backend& backend, const KernelOperator& k, const HostArray& out,
                         const BatchOptions& batch) {
    core::require_members("kernel_diagonal", batch, {});
    const DeviceSamples& samples =
        detail::Access::object(k)->on("kernel_diagonal", detail::Access::backend_state(backend));
    kernels::check_diagonal(samples.plan, facts_of(out));
    kernels::check_out_memory("kernel_diagonal", nullptr, out);
    return kernels::diagonal_in_host_memory(backend, samples, out, batch);
}

}  // namespace weft
