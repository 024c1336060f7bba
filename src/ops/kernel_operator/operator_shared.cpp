// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_operator/operator_shared.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include <weft/error.hpp>

#include "ops/kernel_operator/operator_check.hpp"
#include "ops/kernel_operator/operator_parameters.hpp"
#include "ops/kernel_operator/operator_totals.hpp"

namespace weft::kernels {
namespace {

using Call = core::SharedCallOf<core::DeviceWorker>;

/// Items of a share that is worth its start: `usual`, or four chunks of values of the result if their size is
/// set.
std::uint64_t least_items(const ProductDevices& devices, std::uint64_t usual, std::uint64_t items,
                          std::uint64_t values) {
    const std::uint64_t chunk = devices.chunk_values;
    return std::clamp<std::uint64_t>(chunk != 0 ? 4 * chunk * items / (values + 1) : usual, 1, items);
}

/// Without least_items and worker. `host` must outlive it.
Call shared_call(const OperatorPlan& plan, std::uint64_t items, std::uint64_t pairs,
                 const KernelApplyHostOptions& host) {
    return {.function = "kernel_apply",
            .rates = "kernel_apply " + std::to_string(plan.shape.qubits),
            .items = items,
            .single_job = true,
            .progress_total = pairs,
            .options = host.batch,
            .worker = {}};
}

OpReport report_of(const OpReport& shared, const OperatorProduct& product, std::uint64_t pairs,
                   const ConstHostArray& v, const HostArray& out) {
    OpReport report = operator_report("kernel_apply", pairs, v.bytes(), out);
    report.method = to_string(product.method());
    report.chunks = shared.chunks;
    report.wall_s = shared.wall_s;
    report.devices = shared.devices;
    return report;
}

/// Counts pairs that are done. It throws if the call was stopped.
PairsDone counted(OpReport& report, core::ShareWatch& watch) {
    return [&](std::uint64_t pairs) {
        report.items += pairs;
        ++report.chunks;
        watch.add(pairs);
        if (watch.stop().stop_requested()) throw Error(Errc::cancelled, "kernel_apply: cancelled");
    };
}

TotalFactors factors_of(const OperatorPlan& plan, const KernelApplyOptions& options) {
    if (plan.states) return {options.a, options.a * options.lambda, options.b};
    const SumFactors factors = sum_factors(plan, side_of(plan, false), options, true);
    return {factors.alpha, factors.delta, factors.beta};
}

/// By shares of pairs, whose totals lie on the host, so that they stay if a device is lost. Nothing: the plan
/// is another one, or values are not finite.
std::optional<OpReport> apply_pairs(const ProductDevices& devices, const ConstHostArray& v,
                                    const HostArray& out, const KernelApplyHostOptions& host) {
    const OperatorPlan& first = devices.first;
    const auto columns = static_cast<std::uint32_t>(v.size / first.shape.columns());
    const SharedProduct shared = plan_shared(devices.plans, columns);
    if (!shared.symmetric) return std::nullopt;
    const std::vector<std::int32_t> units = total_units(v, columns, devices.largest, devices.threads);
    if (units.empty()) return std::nullopt;
    std::vector<std::vector<std::uint32_t>> totals(devices.count);
    const OperatorProduct product(first, columns, false, Choice::on);
    const std::uint64_t pairs = product.pairs(PairShare{shared.fold, 0, shared.items});
    Call call = shared_call(first, shared.items, pairs, host);
    call.rates += " pairs";
    call.least_items = least_items(devices, shared.least_items, shared.items, out.size);
    call.worker = [&](std::size_t device) -> core::DeviceWorker {
        return [&shared, &own = totals[device], add = devices.pairs(device, units)](const core::Share& share,
                                                                                    core::ShareWatch& watch) {
            OpReport report;
            add({shared.fold, share.first, share.count}, own, counted(report, watch));
            report.bytes_out = own.size() * sizeof(std::uint32_t);
            return report;
        };
    };
    const OpReport done = devices.run(call);
    // A value of K that is not finite has no place in totals.
    const bool spoilt =
        std::any_of(totals.begin(), totals.end(), [](const auto& t) { return !t.empty() && t.back() != 0; });
    if (spoilt) return std::nullopt;
    add_totals(totals, units, factors_of(first, apply_options(host)), v, out, devices.threads);
    return report_of(done, product, pairs, v, out);
}

}  // namespace

OpReport apply_shared(const ProductDevices& devices, const ConstHostArray& v, const HostArray& out,
                      const ApplyRows& rows, const KernelApplyHostOptions& host) {
    const OperatorPlan& first = devices.first;
    const ApplySide side = side_of(first, host.transpose);
    const auto columns = static_cast<std::uint32_t>(v.size / side.columns);
    if (rows.first == 0 && rows.last == side.rows)
        if (std::optional<OpReport> report = apply_pairs(devices, v, out, host)) return *std::move(report);
    const OperatorProduct product(first, columns, host.transpose, Choice::off);
    const std::uint64_t count = rows.last - rows.first, pairs = product.pairs(rows);
    constexpr std::uint64_t kRowsOfItem = 1024;
    const std::uint64_t items = divide_up(count, kRowsOfItem), bytes = columns * out.type.bytes();
    Call call = shared_call(first, items, pairs, host);
    // By features each share would make the sums over all columns again, so one device makes all rows.
    const std::uint64_t usual =
        product.method() == KernelOperatorMethod::low_rank ? items : least_pairs(first) / (pairs / items + 1);
    call.least_items = least_items(devices, usual, items, count * columns);
    call.repeatable = host.b == 0;
    call.worker = [&](std::size_t device) -> core::DeviceWorker {
        return [&, make = devices.rows(device)](const core::Share& share, core::ShareWatch& watch) {
            const ApplyRows some{rows.first + share.first * kRowsOfItem,
                                 std::min(rows.last, rows.first + (share.first + share.count) * kRowsOfItem)};
            OpReport report;
            make(some,
                 {static_cast<std::byte*>(out.data) + (some.first - rows.first) * bytes,
                  (some.last - some.first) * columns, out.type},
                 counted(report, watch));
            report.bytes_out = (some.last - some.first) * bytes;
            return report;
        };
    };
    return report_of(devices.run(call), product, pairs, v, out);
}

KernelOperatorEstimate estimate_on_each(const std::vector<OperatorPlan>& plans, std::uint32_t columns) {
    std::vector<const OperatorPlan*> all;
    for (const OperatorPlan& plan : plans) all.push_back(&plan);
    return estimate_shared(all, columns);
}

}  // namespace weft::kernels
