// SPDX-License-Identifier: Apache-2.0
// Completes <weft/ops/kernel_operator.hpp>: operators on several devices, each of which holds all samples,
// and products whose shares are consecutive rows of the result.
#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weft/devices.hpp>
#include <weft/error.hpp>
#include <weft/ops/kernel_operator.hpp>

#include "base/batch_call.hpp"
#include "ops/kernel_operator/operator_check.hpp"
#include "ops/kernel_operator/operator_sharing.hpp"
#include "ops_vulkan/kernel_operator/operator_shares.hpp"

namespace weft {
namespace {

using kernels::ApplyCall;
using kernels::DeviceSamples;
using kernels::facts_of;
using kernels::OperatorObject;

/// Of a square K, by the inequality of Cauchy and Schwarz. NaN: there is none.
template <class T>
double largest_of(Backend& backend, const DeviceSamples& samples) {
    std::vector<T> diagonal(samples.plan.shape.samples);
    Stream stream(backend, {.name = "kernel operator"});
    const kernels::HostResult result(stream, diagonal);
    kernels::record_state_diagonal(stream, samples, result.array());
    result.download();
    double most = 0;
    for (const T value : diagonal)
        if (!(static_cast<double>(value) <= most)) most = static_cast<double>(value);
    return most;
}
double largest_value(Backend& backend, const DeviceSamples& samples) {
    return samples.plan.real64 ? largest_of<double>(backend, samples) : largest_of<float>(backend, samples);
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
    const bool any_norm =
        circuit == nullptr && shape.square() && !options.normalize && options.symmetric != Choice::off;
    const double largest = any_norm ? largest_value(core::first_backend(devices), made.front()) : 1;
    return std::make_shared<const OperatorObject>(std::move(made),
                                                  kernels::operator_facts(circuit, shape, options), largest);
}

/// The product on one device, with its V.
class DeviceApply {
  public:
    DeviceApply(Backend& backend, const DeviceSamples& samples, std::uint32_t columns,
                const KernelApplyOptions& options, const ConstHostArray& v, const HostArray& out,
                std::uint64_t first_row)
        : options_(options),
          columns_(columns),
          call_(samples, columns, options_, Choice::off),
          apply_(backend, call_, v),
          out_(out),
          first_row_(first_row) {}

    OpReport make(std::uint64_t first, std::uint64_t last, core::ShareWatch& watch) {
        const std::uint64_t bytes = std::uint64_t{columns_} * out_.type.bytes();
        const HostArray rows{static_cast<std::byte*>(out_.data) + (first - first_row_) * bytes,
                             (last - first) * columns_, out_.type};
        OpReport report;
        apply_.make({first, last}, rows, options_.b != 0, kernels::counted(report, watch));
        report.bytes_out = (last - first) * bytes;
        return report;
    }

  private:
    const KernelApplyOptions options_;
    const std::uint32_t columns_;
    const ApplyCall call_;
    kernels::HostApply apply_;
    const HostArray out_;
    const std::uint64_t first_row_;  // of `out`
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
KernelOperator::KernelOperator(Devices& devices, const detail::GivenStates<ConstHostArray>& states,
                               const ConstHostArray& others, const KernelMatrixShape& shape,
                               const KernelOperatorOptions& options)
    : object_(on_each(devices, nullptr, states, &others, shape, options)) {}

std::uint64_t kernels::least_items(Devices& devices, const BatchOptions& batch, std::uint64_t usual,
                                   std::uint64_t items, std::uint64_t values) {
    const std::uint64_t chunk = core::wanted_chunk_items(core::first_backend(devices).plan(), batch);
    return std::clamp<std::uint64_t>(chunk != 0 ? 4 * chunk * items / (values + 1) : usual, 1, items);
}

core::SharedCall kernels::shared_call(const OperatorPlan& plan, std::uint64_t items, std::uint64_t pairs,
                                      const KernelApplyHostOptions& host) {
    return {.function = "kernel_apply",
            .rates = "kernel_apply " + std::to_string(plan.shape.qubits),
            .items = items,
            .single_job = true,
            .progress_total = pairs,
            .options = host.batch,
            .worker = {}};
}

OpReport kernels::report_of(const OpReport& shared, std::uint64_t pairs, const ConstHostArray& v,
                            const HostArray& out) {
    OpReport report = operator_report("kernel_apply", pairs, v.bytes(), out);
    report.chunks = shared.chunks;
    report.wall_s = shared.wall_s;
    report.devices = shared.devices;
    return report;
}

kernels::PairsDone kernels::counted(OpReport& report, core::ShareWatch& watch) {
    return [&](std::uint64_t pairs) {
        report.items += pairs;
        ++report.chunks;
        watch.add(pairs);
        if (watch.stop().stop_requested()) throw Error(Errc::cancelled, "kernel_apply: cancelled");
    };
}

OpReport kernels::apply_rows(Devices& devices, const KernelOperator& k, const ConstHostArray& v,
                             const HostArray& out, const ApplyRows& rows,
                             const KernelApplyHostOptions& host) {
    const KernelApplyOptions options = apply_options(host);
    const DeviceSamples& first = samples_on(core::first_backend(devices), k);
    const ApplySide side = side_of(first.plan, options.transpose);
    const auto columns = static_cast<std::uint32_t>(v.size / side.columns);
    if (rows.first == 0 && rows.last == side.rows)
        if (std::optional<OpReport> report = apply_pairs(devices, k, v, out, host)) return *std::move(report);
    const ApplyCall whole(first, columns, options, Choice::off);
    const std::uint64_t count = rows.last - rows.first, pairs = whole.pairs(rows);
    constexpr std::uint64_t kRowsOfItem = 1024;
    const std::uint64_t items = divide_up(count, kRowsOfItem);
    core::SharedCall call = shared_call(first.plan, items, pairs, host);
    call.least_items = least_items(devices, host.batch, least_pairs(first.plan) / (pairs / items + 1), items,
                                   count * columns);
    call.repeatable = options.b == 0;
    call.worker = [&](std::size_t device) -> core::ShareWorker {
        const auto apply = std::make_shared<DeviceApply>(devices[device], samples_on(devices[device], k),
                                                         columns, options, v, out, rows.first);
        return [apply, rows](Backend&, const core::Share& share, core::ShareWatch& watch) {
            return apply->make(rows.first + share.first * kRowsOfItem,
                               std::min(rows.last, rows.first + (share.first + share.count) * kRowsOfItem),
                               watch);
        };
    };
    OpReport report = report_of(core::run_shares(devices, call), pairs, v, out);
    report.method = to_string(whole.method());
    return report;
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
