// SPDX-License-Identifier: Apache-2.0
// Completes <weft/ops/kernel_operator.hpp>: operators on several devices, each of which holds all samples.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <weft/devices.hpp>
#include <weft/ops/kernel_operator.hpp>

#include "base/batch_call.hpp"
#include "ops/kernel_operator/operator_check.hpp"
#include "ops/kernel_operator/operator_shared.hpp"
#include "ops_vulkan/kernel_operator/operator_host.hpp"
#include "vulkan/devices/shared_call.hpp"

namespace weft {
namespace {

using kernels::ApplyCall;
using kernels::DeviceSamples;
using kernels::facts_of;
using kernels::OperatorObject;

double largest_value_on(Backend& backend, const DeviceSamples& samples) {
    const std::uint64_t count = samples.plan.shape.samples;
    std::vector<std::byte> memory(count * samples.plan.real_bytes());
    const HostArray diagonal{memory.data(), count, samples.plan.options.type};
    Stream stream(backend, {.name = "kernel operator"});
    const kernels::HostResult result(stream, diagonal);
    kernels::record_state_diagonal(stream, samples, result.array(), [](std::uint64_t) {});
    result.download();
    return kernels::largest_value(diagonal);
}

std::shared_ptr<const OperatorObject> on_each(Devices& devices, const KernelMatrixCircuit* circuit,
                                              const ConstHostArray& x, const ConstHostArray* y,
                                              const KernelMatrixShape& shape,
                                              const KernelOperatorOptions& options) {
    const kernels::HostSamples samples = kernels::checked_samples(
        "KernelOperator", circuit, x, y, shape, options, core::first_backend(devices).plan().copy_threads);
    std::vector<DeviceSamples> made;
    for (std::size_t i = 0; i < devices.size(); ++i)
        if (!devices.lost(i)) made.push_back(kernels::samples_on(devices[i], samples, true));
    const double largest =
        samples.any_norm() ? largest_value_on(core::first_backend(devices), made.front()) : 1;
    return std::make_shared<const OperatorObject>(std::move(made),
                                                  kernels::operator_facts(circuit, shape, options), largest);
}

/// The product on one device, with its V.
struct DeviceRows {
    DeviceRows(Backend& backend, const DeviceSamples& samples, std::uint32_t columns,
               const KernelApplyOptions& of_call, const ConstHostArray& v)
        : options(of_call), call(samples, columns, options, Choice::off), apply(backend, call, v) {}
    const KernelApplyOptions options;
    const ApplyCall call;
    kernels::HostApply apply;
};
struct DevicePairs {
    DevicePairs(Backend& backend, const DeviceSamples& samples, std::uint32_t columns,
                const ConstHostArray& v, const std::vector<std::int32_t>& units)
        : call(samples, columns, options, Choice::on), totals(backend, call, v, units) {}
    const KernelApplyOptions options{};  // factors apply to totals
    const ApplyCall call;
    kernels::HostTotals totals;
};

std::vector<kernels::OperatorPlan> plans_on(Devices& devices, const kernels::CircuitFacts& facts,
                                            const KernelMatrixShape& shape,
                                            const KernelOperatorOptions& options) {
    core::first_backend(devices);  // throws if all are lost
    std::vector<kernels::OperatorPlan> plans;
    for (std::size_t i = 0; i < devices.size(); ++i)
        if (!devices.lost(i))
            plans.push_back(kernels::operator_plan_on(devices[i], facts, shape, options, true));
    return plans;
}

}  // namespace

KernelOperator::KernelOperator(Devices& devices, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                               const KernelMatrixShape& shape, const KernelOperatorOptions& options)
    : object_(on_each(devices, &circuit, x, nullptr, shape, options)) {}
KernelOperator::KernelOperator(Devices& devices, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                               const ConstHostArray& y, const KernelMatrixShape& shape,
                               const KernelOperatorOptions& options)
    : object_(on_each(devices, &circuit, x, &y, shape, options)) {}

KernelOperator::KernelOperator(Devices& devices, const ConstHostArray& states, const KernelMatrixShape& shape,
                               const KernelOperatorOptions& options)
    : object_(on_each(devices, nullptr, states, nullptr, shape, options)) {}
KernelOperator::KernelOperator(Devices& devices, const detail::GivenStates<ConstHostArray>& states,
                               const ConstHostArray& others, const KernelMatrixShape& shape,
                               const KernelOperatorOptions& options)
    : object_(on_each(devices, nullptr, states, &others, shape, options)) {}

KernelOperatorEstimate estimate_kernel_operator(Devices& devices, const KernelMatrixCircuit& circuit,
                                                const KernelMatrixShape& shape, std::uint32_t columns,
                                                const KernelOperatorOptions& options) {
    const kernels::CircuitFacts facts = kernels::check_operator(circuit, shape, shape.others != 0, options);
    kernels::check_columns(columns);
    return kernels::estimate_on_each(plans_on(devices, facts, shape, options), columns);
}
KernelOperatorEstimate estimate_kernel_operator(Devices& devices, ElementType states,
                                                const KernelMatrixShape& shape, std::uint32_t columns,
                                                const KernelOperatorOptions& options) {
    const kernels::CircuitFacts facts =
        kernels::check_given_operator(states, shape, shape.others != 0, options);
    kernels::check_columns(columns);
    return kernels::estimate_on_each(plans_on(devices, facts, shape, options), columns);
}

OpReport kernels::apply_rows(Devices& devices, const KernelOperator& k, const ConstHostArray& v,
                             const HostArray& out, const ApplyRows& rows,
                             const KernelApplyHostOptions& host) {
    const OperatorObject& object = *detail::Access::object(k);
    Backend& backend = core::first_backend(devices);
    const DeviceSamples& first = samples_on(backend, k);
    const std::vector<const OperatorPlan*> plans = object.plans();
    const KernelApplyOptions options = apply_options(host);
    const auto columns = static_cast<std::uint32_t>(v.size / side_of(first.plan, options.transpose).columns);
    return apply_shared(
        {.count = devices.size(),
         .plans = plans,
         .first = first.plan,
         .largest = object.largest(),
         .chunk_values = core::wanted_chunk_items(backend.plan(), host.batch),
         .threads = backend.plan().copy_threads * static_cast<std::uint32_t>(devices.size()),
         .rows = [&](std::size_t device) -> RowsWorker {
             const auto work = std::make_shared<DeviceRows>(devices[device], samples_on(devices[device], k),
                                                            columns, options, v);
             return [work](const ApplyRows& some, const HostArray& to, const PairsDone& done) {
                 work->apply.make(some, to, work->options.b != 0, done);
             };
         },
         .pairs = [&](std::size_t device, const std::vector<std::int32_t>& units) -> PairsWorker {
             const auto work = std::make_shared<DevicePairs>(devices[device], samples_on(devices[device], k),
                                                             columns, v, units);
             return [work](const PairShare& share, std::vector<std::uint32_t>& totals,
                           const PairsDone& done) { work->totals.add(share, totals, done); };
         },
         .run =
             [&](const core::SharedCallOf<core::DeviceWorker>& call) {
                 return core::run_shares(
                     devices,
                     call.with_worker<core::ShareWorker>([&](std::size_t device) -> core::ShareWorker {
                         return [work = call.worker(device)](Backend&, const core::Share& share,
                                                             core::ShareWatch& watch) {
                             return work(share, watch);
                         };
                     }));
             }},
        v, out, rows, host);
}

OpReport kernel_apply(Devices& devices, const KernelOperator& k, const ConstHostArray& v,
                      const HostArray& out, const KernelApplyHostOptions& host) {
    core::require_members("kernel_apply", host.batch, {});
    const KernelApplyOptions options = kernels::apply_options(host);
    const kernels::OperatorPlan& plan = kernels::samples_on(core::first_backend(devices), k).plan;
    kernels::check_apply(plan, facts_of(v), facts_of(out), options);
    kernels::check_out_memory("kernel_apply", &v, out);
    return kernels::apply_rows(devices, k, v, out, {0, kernels::side_of(plan, options.transpose).rows}, host);
}

}  // namespace weft
