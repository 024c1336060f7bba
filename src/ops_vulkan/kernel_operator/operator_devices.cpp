// SPDX-License-Identifier: Apache-2.0
// Completes <weft/ops/kernel_operator.hpp>: operators on several devices. Each holds all samples, and shares
// are consecutive rows of the result.
#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <weft/devices.hpp>
#include <weft/error.hpp>
#include <weft/ops/kernel_operator.hpp>

#include "base/batch_call.hpp"
#include "ops/kernel_operator/operator_check.hpp"
#include "ops_vulkan/kernel_operator/operator_host.hpp"
#include "vulkan/devices/shared_call.hpp"

namespace weft {
namespace {

using kernels::ApplyCall;
using kernels::DeviceSamples;
using kernels::facts_of;
using kernels::OperatorObject;

std::shared_ptr<const OperatorObject> on_each(Devices& devices, const KernelMatrixCircuit* circuit,
                                              const ConstHostArray& x, const ConstHostArray* y,
                                              const KernelMatrixShape& shape,
                                              const KernelOperatorOptions& options) {
    const kernels::HostSamples samples = kernels::checked_samples(
        "KernelOperator", circuit, x, y, shape, options, core::first_backend(devices).plan().copy_threads);
    std::vector<DeviceSamples> made;
    for (std::size_t i = 0; i < devices.size(); ++i)
        if (!devices.lost(i)) made.push_back(kernels::samples_on(devices[i], samples));
    return std::make_shared<const OperatorObject>(std::move(made),
                                                  kernels::operator_facts(circuit, shape, options));
}

/// Kernel values that keep a device busy for some milliseconds.
std::uint64_t least_pairs(const kernels::OperatorPlan& plan) {
    const std::uint64_t pairs = plan.device.software ? 1u << 24 : 1u << 31;
    return plan.states ? std::max<std::uint64_t>(1, pairs >> std::min(plan.shape.qubits, 30u)) : pairs;
}

/// The product on one device, with its V.
class DeviceApply {
  public:
    DeviceApply(Backend& backend, const DeviceSamples& samples, std::uint32_t columns,
                const KernelApplyOptions& options, const ConstHostArray& v, const HostArray& out)
        : options_(options),
          columns_(columns),
          call_(samples, columns, options_, false),
          apply_(backend, call_, v),
          out_(out) {}

    OpReport make(std::uint64_t first, std::uint64_t last, core::ShareWatch& watch) {
        const std::uint64_t bytes = std::uint64_t{columns_} * out_.type.bytes();
        const HostArray rows{static_cast<std::byte*>(out_.data) + first * bytes, (last - first) * columns_,
                             out_.type};
        OpReport report;
        apply_.make({first, last}, rows, options_.b != 0, [&](std::uint64_t pairs) {
            report.items += pairs;
            watch.add(pairs);
            if (watch.stop().stop_requested()) throw Error(Errc::cancelled, "kernel_apply: cancelled");
        });
        report.bytes_out = (last - first) * bytes;
        return report;
    }

  private:
    const KernelApplyOptions options_;
    const std::uint32_t columns_;
    const ApplyCall call_;
    kernels::HostApply apply_;
    const HostArray out_;
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

OpReport kernel_apply(Devices& devices, const KernelOperator& k, const ConstHostArray& v,
                      const HostArray& out, const KernelApplyHostOptions& host) {
    core::require_members("kernel_apply", host.batch, {});
    const KernelApplyOptions options = kernels::apply_options(host);
    const OperatorObject& object = *detail::Access::object(k);
    const auto samples_of = [&](Backend& backend) -> const DeviceSamples& {
        return object.on("kernel_apply", detail::Access::backend_state(backend));
    };
    const DeviceSamples& first = samples_of(core::first_backend(devices));
    const std::uint32_t columns = kernels::check_apply(first.plan, facts_of(v), facts_of(out), options);
    kernels::check_out_memory("kernel_apply", &v, out);
    const ApplyCall whole(first, columns, options, false);
    const std::uint64_t rows = whole.side().rows, pairs = whole.pairs({0, rows});
    constexpr std::uint64_t kRowsOfItem = 1024;  // a multiple of the rows of any workgroup
    const std::uint64_t items = kernels::divide_up(rows, kRowsOfItem);
    const auto worker = [&](std::size_t device) -> core::ShareWorker {
        const auto apply = std::make_shared<DeviceApply>(devices[device], samples_of(devices[device]),
                                                         columns, options, v, out);
        return [apply, rows](Backend&, const core::Share& share, core::ShareWatch& watch) {
            return apply->make(share.first * kRowsOfItem,
                               std::min(rows, (share.first + share.count) * kRowsOfItem), watch);
        };
    };
    const OpReport shared = core::run_shares(
        devices,
        {.function = "kernel_apply",
         .rates = "kernel_apply " + std::to_string(first.plan.shape.qubits),
         .items = items,
         .least_items = std::clamp<std::uint64_t>(least_pairs(first.plan) / (pairs / items + 1), 1, items),
         .repeatable = options.b == 0,
         .single_job = true,
         .progress_total = pairs,
         .options = host.batch,
         .worker = worker});
    OpReport report = kernels::operator_report("kernel_apply", pairs, v.bytes(), out);
    report.method = to_string(whole.method());
    report.wall_s = shared.wall_s;
    report.devices = shared.devices;
    return report;
}

}  // namespace weft
