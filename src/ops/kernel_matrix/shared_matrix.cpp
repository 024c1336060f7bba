// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_matrix/shared_matrix.hpp"

#include <algorithm>
#include <cmath>

#include <weft/error.hpp>

#include "ops/kernel_matrix/kernel_check.hpp"

namespace weft::kernels {
namespace {

/// Devices of one kind get one plan. Devices that are lost get none.
DevicePlans plan_each(const std::vector<MatrixDevice>& devices, const KernelMatrixOptions& options) {
    DevicePlans made;
    made.plans.resize(devices.size());
    made.refused.resize(devices.size());
    made.software = std::all_of(devices.begin(), devices.end(),
                                [](const MatrixDevice& device) { return device.lost || device.software; });
    for (std::size_t i = 0; i < devices.size(); ++i) {
        const MatrixDevice& device = devices[i];
        if (device.lost) continue;
        for (std::size_t before = 0; before < i && !made.plans[i]; ++before)
            if (made.plans[before] && devices[before].kind == device.kind) made.plans[i] = made.plans[before];
        if (made.plans[i]) continue;
        if (device.software && !made.software) {  // measuring its tiles alone would outlast the call
            made.refused[i] = std::make_exception_ptr(
                Error(Errc::unsupported, "a software device is too slow beside a GPU to save time"));
            continue;
        }
        try {
            made.plans[i] = device.plan(options);
        } catch (const Error& e) {
            const Errc code = e.code();
            if (code != Errc::unsupported && code != Errc::out_of_memory && code != Errc::device_lost &&
                code != Errc::no_device)
                throw;
            made.refused[i] = std::current_exception();
        }
    }
    return made;
}

}  // namespace

const KernelMatrixPlan& DevicePlans::first() const {
    for (const auto& plan : plans)
        if (plan) return *plan;
    for (const std::exception_ptr& why : refused)
        if (why) std::rethrow_exception(why);
    throw Error(Errc::device_lost, "kernel_matrix: every device is lost");
}

const KernelMatrixPlan& DevicePlans::of(std::size_t device) const {
    if (!plans[device]) std::rethrow_exception(refused[device]);
    return *plans[device];
}

DevicePlans plan_together(const std::vector<MatrixDevice>& devices, const KernelMatrixOptions& options) {
    DevicePlans made = plan_each(devices, options);
    std::uint64_t tile = made.first().states.tile;
    bool equal = true;
    for (const auto& plan : made.plans)
        if (plan) {
            equal = equal && plan->states.tile == made.first().states.tile;
            tile = std::min(tile, plan->states.tile);
        }
    if (!equal) {
        KernelMatrixOptions same = options;
        same.state_tile = static_cast<std::int64_t>(tile);
        made = plan_each(devices, same);
    }
    constexpr std::uint64_t kGpuRows = 2048, kSoftwareRows = 256;
    std::uint64_t block = made.first().states.block;
    for (auto& plan : made.plans)
        if (plan && devices.size() > 1) {
            cut_for_devices(*plan, made.software ? kSoftwareRows : kGpuRows);
            block = std::min(block, plan->states.block);
        }
    for (auto& plan : made.plans)
        if (plan) plan->states.block = block;
    return made;
}

std::uint64_t least_items(const DevicePlans& plans, std::uint64_t items) {
    const KernelMatrixPlan& plan = plans.first();
    const double least_bytes = 64e6;
    const double least_flops = plans.software ? 2e9 : 5e10;
    const double flops = gram_flops(plan) / static_cast<double>(items);
    const double bytes = static_cast<double>(plan.matrix_bytes()) / static_cast<double>(items);
    const double wanted =
        std::min(plan.method == KernelMatrixMethod::states ? least_flops / flops : least_bytes / bytes,
                 static_cast<double>(items));
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(wanted)));
}

OpReport shared_report(const HostMatrixCall& call, const DevicePlans& plans, OpReport shared) {
    OpReport report = kernel_report(call.shape, plans.first().method, call.x, call.y, call.k);
    report.chunks = shared.chunks;
    report.wall_s = shared.wall_s;
    report.devices = std::move(shared.devices);
    return report;
}

}  // namespace weft::kernels
