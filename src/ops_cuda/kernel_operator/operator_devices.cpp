// SPDX-License-Identifier: Apache-2.0
// Completes <weft/cuda/kernel_operator.hpp>: operators on several devices, each of which holds all samples.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <weft/cuda/devices.hpp>
#include <weft/cuda/kernel_operator.hpp>

#include "base/batch_call.hpp"
#include "cuda/devices_state.hpp"
#include "cuda/streamed_chunks.hpp"
#include "ops/kernel_operator/operator_check.hpp"
#include "ops/kernel_operator/operator_shared.hpp"
#include "ops_cuda/kernel_operator/operator_host.hpp"

namespace weft::cuda {
namespace {

using kernels::facts_of;
using kernels::OperatorPlan;

constexpr const char* kFunction = "kernel_apply";

/// Of a square K on the current device.
double largest_value_on(const DeviceSamples& samples) {
    const std::uint64_t count = samples.plan.shape.samples;
    std::vector<std::byte> memory(count * samples.plan.real_bytes());
    const OwnStream stream("KernelOperator");
    const Scratch made(stream, memory.size(), "KernelOperator", "a diagonal");
    launch_state_diagonal(stream, samples, DeviceArray(made.data(), count, samples.plan.options.type),
                          [](std::uint64_t) {});
    copy(stream, memory.data(), made.data(), memory.size(), cudaMemcpyDeviceToHost, "KernelOperator");
    stream.wait();
    return kernels::largest_value({memory.data(), count, samples.plan.options.type});
}

std::shared_ptr<const OperatorObject> on_each(Devices& devices, const KernelMatrixCircuit* circuit,
                                              const ConstHostArray& x, const ConstHostArray* y,
                                              const KernelMatrixShape& shape,
                                              const KernelOperatorOptions& options) {
    constexpr const char* kConstructor = "KernelOperator";
    const kernels::HostSamples samples =
        kernels::checked_samples(kConstructor, circuit, x, y, shape, options, host_threads());
    std::vector<OperatorObject::Samples> places;
    double largest = 1;
    for (const std::size_t i : weft::detail::Access::state(devices).usable(kConstructor)) {
        const auto same = std::find_if(places.begin(), places.end(), [&](const auto& place) {
            return place->device == devices[i].ordinal;
        });
        if (same != places.end()) {
            places.push_back(OperatorObject::Samples(*same));
            continue;
        }
        const CurrentDevice current(kConstructor, devices[i]);
        places.push_back(samples_here(samples, true));
        if (places.size() == 1 && samples.any_norm()) largest = largest_value_on(*places.front());
    }
    return std::make_shared<const OperatorObject>(std::move(places),
                                                  kernels::operator_facts(circuit, shape, options), largest);
}

std::vector<OperatorPlan> plans_on(Devices& devices, const kernels::CircuitFacts& facts,
                                   const KernelMatrixShape& shape, const KernelOperatorOptions& options) {
    constexpr const char* kEstimate = "estimate_kernel_operator";
    std::vector<OperatorPlan> plans;
    for (const std::size_t i : weft::detail::Access::state(devices).usable(kEstimate)) {
        const CurrentDevice current(kEstimate, devices[i]);
        plans.push_back(operator_plan_here(kEstimate, facts, shape, options, true));
    }
    return plans;
}

/// The first device that is not lost.
const DeviceInfo& first_of(Devices& devices) {
    return devices[weft::detail::Access::state(devices).usable(kFunction).front()];
}

/// The product on one device, with its V.
struct DeviceRows {
    DeviceRows(const DeviceSamples& samples, std::uint32_t columns, const KernelApplyOptions& of_call,
               const ConstHostArray& v)
        : options(of_call), call(samples, columns, options, Choice::off), apply(call, v) {}
    const KernelApplyOptions options;
    const OperatorApplyCall call;
    HostApply apply;
};
struct DevicePairs {
    DevicePairs(const DeviceSamples& samples, std::uint32_t columns, const ConstHostArray& v,
                const std::vector<std::int32_t>& units)
        : call(samples, columns, options, Choice::on), totals(call, v, units) {}
    const KernelApplyOptions options{};  // factors apply to totals
    const OperatorApplyCall call;
    HostTotals totals;
};

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
KernelOperator::KernelOperator(Devices& devices, const weft::detail::GivenStates<ConstHostArray>& states,
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

OpReport apply_rows(Devices& devices, const KernelOperator& k, const ConstHostArray& v, const HostArray& out,
                    const kernels::ApplyRows& rows, const KernelApplyHostOptions& host) {
    const OperatorObject& object = *weft::detail::Access::object(k);
    const std::vector<const OperatorPlan*> plans = object.plans();
    const CurrentDevice of_first(kFunction, first_of(devices));
    const OperatorPlan& first = object.here(kFunction).plan;
    const KernelApplyOptions options = kernels::apply_options(host);
    const auto columns =
        static_cast<std::uint32_t>(v.size / kernels::side_of(first, options.transpose).columns);
    return kernels::apply_shared(
        {.count = devices.size(),
         .plans = plans,
         .first = first,
         .largest = object.largest(),
         .chunk_values = wanted_chunk_elements(host.batch),
         .threads = host_threads(),
         .rows = [&](std::size_t device) -> kernels::RowsWorker {
             const CurrentDevice current(kFunction, devices[device]);
             const auto work = std::make_shared<DeviceRows>(object.here(kFunction), columns, options, v);
             return [work, &info = devices[device]](const kernels::ApplyRows& some, const HostArray& to,
                                                    const kernels::PairsDone& done) {
                 const CurrentDevice of_share(kFunction, info);
                 work->apply.make(some, to, work->options.b != 0, done);
             };
         },
         .pairs = [&](std::size_t device, const std::vector<std::int32_t>& units) -> kernels::PairsWorker {
             const CurrentDevice current(kFunction, devices[device]);
             const auto work = std::make_shared<DevicePairs>(object.here(kFunction), columns, v, units);
             return [work, &info = devices[device]](const kernels::PairShare& share,
                                                    std::vector<std::uint32_t>& totals,
                                                    const kernels::PairsDone& done) {
                 const CurrentDevice of_share(kFunction, info);
                 work->totals.add(share, totals, done);
             };
         },
         .run = [&](const auto& call) { return run_shares(devices, call); }},
        v, out, rows, host);
}

OpReport kernel_apply(Devices& devices, const KernelOperator& k, const ConstHostArray& v,
                      const HostArray& out, const KernelApplyHostOptions& host) {
    core::require_members(kFunction, host.batch, {});
    const OperatorPlan& plan = weft::detail::Access::object(k)->first().plan;
    kernels::check_apply(plan, facts_of(v), facts_of(out), kernels::apply_options(host));
    kernels::check_out_memory(kFunction, &v, out);
    return apply_rows(devices, k, v, out, {0, kernels::side_of(plan, host.transpose).rows}, host);
}

}  // namespace weft::cuda
