// SPDX-License-Identifier: Apache-2.0
// Completes <weft/ops/kernel_operator.hpp>: products with a square K of which several devices share the
// pairs. Each has totals of all rows; those of its finished shares lie on the host, so that they stay if it
// is lost.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <weft/devices.hpp>
#include <weft/error.hpp>
#include <weft/ops/kernel_operator.hpp>

#include "ops/kernel_operator/operator_check.hpp"
#include "ops/kernel_operator/operator_totals.hpp"
#include "ops_vulkan/kernel_operator/operator_shares.hpp"

namespace weft {
namespace kernels {
namespace {

using Totals = std::vector<std::uint32_t>;

/// The shares of one device.
class DevicePairs {
  public:
    DevicePairs(Backend& backend, const DeviceSamples& samples, std::uint32_t columns,
                const ConstHostArray& v, const std::vector<std::int32_t>& units, const RowFold& fold,
                Totals& totals)
        : call_(samples, columns, options_, Choice::on),
          work_(backend, call_, v, units),
          fold_(fold),
          totals_(totals) {}

    OpReport make(const core::Share& share, core::ShareWatch& watch) {
        OpReport report;
        work_.add({fold_, share.first, share.count}, totals_, counted(report, watch));
        report.bytes_out = totals_.size() * sizeof(std::uint32_t);
        return report;
    }

  private:
    const KernelApplyOptions options_{};  // factors apply to totals
    const ApplyCall call_;
    HostTotals work_;
    const RowFold fold_;
    Totals& totals_;
};

TotalFactors factors_of(const OperatorPlan& plan, const KernelApplyOptions& options) {
    if (plan.states) return {options.a, options.a * options.lambda, options.b};
    const SumFactors factors = sum_factors(plan, side_of(plan, false), options, true);
    return {factors.alpha, factors.delta, factors.beta};
}

}  // namespace

std::optional<OpReport> apply_pairs(Devices& devices, const KernelOperator& k, const ConstHostArray& v,
                                    const HostArray& out, const KernelApplyHostOptions& host) {
    const OperatorObject& object = *detail::Access::object(k);
    const DeviceSamples& first = samples_on(core::first_backend(devices), k);
    const auto columns = static_cast<std::uint32_t>(v.size / first.plan.shape.columns());
    const SharedProduct shared = plan_shared(object.plans(), columns);
    if (!shared.symmetric) return std::nullopt;
    const std::uint32_t threads =
        core::first_backend(devices).plan().copy_threads * static_cast<std::uint32_t>(devices.size());
    const std::vector<std::int32_t> units = total_units(v, columns, object.largest(), threads);
    if (units.empty()) return std::nullopt;
    std::vector<Totals> totals(devices.size());
    const std::uint64_t pairs =
        ApplyCall(first, columns, {}, Choice::on).pairs(PairShare{shared.fold, 0, shared.items});
    core::SharedCall call = shared_call(first.plan, shared.items, pairs, host);
    call.rates += " pairs";
    call.least_items = least_items(devices, host.batch, shared.least_items, shared.items, out.size);
    call.worker = [&](std::size_t device) -> core::ShareWorker {
        const auto work = std::make_shared<DevicePairs>(devices[device], samples_on(devices[device], k),
                                                        columns, v, units, shared.fold, totals[device]);
        return [work](Backend&, const core::Share& share, core::ShareWatch& watch) {
            return work->make(share, watch);
        };
    };
    const OpReport done = core::run_shares(devices, call);
    // A value of K that is not finite has no place in totals.
    const bool spoilt = std::any_of(totals.begin(), totals.end(),
                                    [](const Totals& t) { return !t.empty() && t.back() != 0; });
    if (spoilt) return std::nullopt;
    add_totals(totals, units, factors_of(first.plan, apply_options(host)), v, out, threads);
    OpReport report = report_of(done, pairs, v, out);
    report.method =
        to_string(first.plan.states ? KernelOperatorMethod::states : KernelOperatorMethod::product);
    return report;
}

namespace {

KernelOperatorEstimate estimate_on_each(Devices& devices, const CircuitFacts& facts,
                                        const KernelMatrixShape& shape, std::uint32_t columns,
                                        const KernelOperatorOptions& options) {
    check_columns(columns);
    core::first_backend(devices);  // throws if all are lost
    std::vector<OperatorPlan> plans;
    for (std::size_t i = 0; i < devices.size(); ++i)
        if (!devices.lost(i)) plans.push_back(operator_plan_on(devices[i], facts, shape, options, true));
    std::vector<const OperatorPlan*> all;
    for (const OperatorPlan& plan : plans) all.push_back(&plan);
    return estimate_shared(all, columns);
}

}  // namespace
}  // namespace kernels

KernelOperatorEstimate estimate_kernel_operator(Devices& devices, const KernelMatrixCircuit& circuit,
                                                const KernelMatrixShape& shape, std::uint32_t columns,
                                                const KernelOperatorOptions& options) {
    return kernels::estimate_on_each(devices,
                                     kernels::check_any_operator(circuit, shape, shape.others != 0, options),
                                     shape, columns, options);
}
KernelOperatorEstimate estimate_kernel_operator(Devices& devices, ElementType states,
                                                const KernelMatrixShape& shape, std::uint32_t columns,
                                                const KernelOperatorOptions& options) {
    return kernels::estimate_on_each(devices,
                                     kernels::check_given_operator(states, shape, shape.others != 0, options),
                                     shape, columns, options);
}

}  // namespace weft
