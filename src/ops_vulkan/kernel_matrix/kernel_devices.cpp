// SPDX-License-Identifier: Apache-2.0
// Completes <weft/ops/kernel_matrix.hpp>: kernel matrices on several devices. Shares are consecutive rows of
// a closed form, or consecutive blocks of K in the order in which packed states are used again.
#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include <weft/devices.hpp>
#include <weft/ops/kernel_matrix.hpp>

#include "ops/kernel_matrix/kernel_check.hpp"
#include "ops_vulkan/kernel_matrix/kernel_shares.hpp"
#include "vulkan/devices/shared_call.hpp"

namespace weft {
namespace kernels {
namespace {

bool same_kind(const DeviceInfo& a, const DeviceInfo& b) {
    return a.name == b.name && a.driver == b.driver;
}

bool is_software(const Backend& backend) {
    return backend.device().type == DeviceType::cpu;
}

/// Software devices take no part beside a GPU: measuring their tiles alone would take longer than the call.
bool is_too_slow(Devices& devices, std::size_t device) {
    if (!is_software(devices[device])) return false;
    for (std::size_t i = 0; i < devices.size(); ++i)
        if (!devices.lost(i) && !is_software(devices[i])) return true;
    return false;
}

/// Devices of one kind get one plan, so that they round alike. Devices that are lost get none.
DevicePlans plan_each(Devices& devices, const HostMatrixCall& call, const KernelMatrixOptions& options) {
    DevicePlans made;
    made.plans.resize(devices.size());
    made.refused.resize(devices.size());
    for (std::size_t i = 0; i < devices.size(); ++i) {
        if (devices.lost(i)) continue;
        for (std::size_t before = 0; before < i && !made.plans[i]; ++before)
            if (made.plans[before] && same_kind(devices[before].device(), devices[i].device()))
                made.plans[i] = made.plans[before];
        if (made.plans[i]) continue;
        if (is_too_slow(devices, i)) {
            made.refused[i] = std::make_exception_ptr(
                Error(Errc::unsupported, "a software device is too slow beside a GPU to save time"));
            continue;
        }
        try {
            made.plans[i] = plan_on(devices[i], call, options);
        } catch (const Error& e) {
            const Errc code = e.code();  // the device leaves the call when its worker is made
            if (code != Errc::unsupported && code != Errc::out_of_memory && code != Errc::device_lost) throw;
            made.refused[i] = std::current_exception();
        }
    }
    return made;
}

/// Blocks or rows below which a share is not worth its start: those of a few milliseconds.
std::uint64_t least_items(const KernelMatrixPlan& plan, std::uint64_t items, DeviceType type) {
    const double least_bytes = 64e6;
    const double least_flops = type == DeviceType::cpu ? 2e9 : 5e10;
    const double flops = gram_flops(plan) / static_cast<double>(items);
    const double bytes = static_cast<double>(plan.matrix_bytes()) / static_cast<double>(items);
    const double wanted =
        std::min(plan.method == KernelMatrixMethod::states ? least_flops / flops : least_bytes / bytes,
                 static_cast<double>(items));
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(wanted)));
}

}  // namespace

const KernelMatrixPlan& DevicePlans::first() const {
    for (const auto& plan : plans)
        if (plan) return *plan;
    for (const std::exception_ptr& why : refused)
        if (why) std::rethrow_exception(why);
    throw Error(Errc::device_lost, "kernel_matrix: every device is lost");
}

DevicePlans plan_together(Devices& devices, const HostMatrixCall& call) {
    DevicePlans made = plan_each(devices, call, call.options);
    std::uint64_t tile = made.first().states.tile;
    bool equal = true;
    for (const auto& plan : made.plans)
        if (plan) {
            equal = equal && plan->states.tile == made.first().states.tile;
            tile = std::min(tile, plan->states.tile);
        }
    if (!equal) {
        KernelMatrixOptions options = call.options;
        options.state_tile = static_cast<std::int64_t>(tile);
        made = plan_each(devices, call, options);
    }
    constexpr std::uint64_t kGpuRows = 2048, kSoftwareRows = 256;
    const bool software = is_software(core::first_backend(devices));
    std::uint64_t block = made.first().states.block;
    for (auto& plan : made.plans)
        if (plan && devices.size() > 1) {
            cut_for_devices(*plan, software ? kSoftwareRows : kGpuRows);
            block = std::min(block, plan->states.block);
        }
    for (auto& plan : made.plans)
        if (plan) plan->states.block = block;
    return made;
}

OpReport share_items(Devices& devices, const HostMatrixCall& call, const DevicePlans& plans,
                     const MatrixItems& items, const InPlace& in_place) {
    const KernelMatrixPlan& plan = plans.first();
    const auto worker = [&](std::size_t device) -> core::ShareWorker {
        if (!plans.plans[device]) std::rethrow_exception(plans.refused[device]);
        const std::shared_ptr<MatrixShares> shares =
            make_shares(devices[device], *plans.plans[device], call, items);
        return [shares, &call, &in_place](Backend&, const core::Share& share, core::ShareWatch& watch) {
            return shares->make(share, watch.options(call.batch), ~std::uint64_t{0}, in_place);
        };
    };
    std::string rates =
        std::string("kernel_matrix ") + to_string(plan.method) + " " + std::to_string(call.shape.qubits);
    if (in_place) rates += " into a file";  // its items are others
    OpReport shared = core::run_shares(
        devices, {.function = "kernel_matrix",
                  .rates = rates,
                  .items = items.count(),
                  .least_items = least_items(plan, items.count(), core::first_backend(devices).device().type),
                  .single_job = true,
                  .refused = plans.refused,
                  .progress_total = items.pairs(plan),
                  .options = call.batch,
                  .worker = worker});
    OpReport report = kernel_report(call.shape, plan.method, call.x, call.y, call.k);
    report.wall_s = shared.wall_s;
    report.devices = std::move(shared.devices);
    return report;
}

}  // namespace kernels

namespace {

using kernels::facts_of;

OpReport run(Devices& devices, const kernels::HostMatrixCall& call) {
    const kernels::DevicePlans plans = kernels::plan_together(devices, call);
    return kernels::share_items(devices, call, plans, kernels::all_items(plans.first()));
}

OpReport of_features(Devices& devices, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                     const ConstHostArray* y, const HostArray& k, const KernelMatrixShape& shape,
                     const KernelMatrixHostOptions& host) {
    const KernelMatrixOptions options = kernels::host_options(host, false);
    kernels::check_features(facts_of(x), facts_of(y), facts_of(k), shape, options);
    const kernels::CircuitFacts facts = kernels::circuit_facts(shape, circuit, true);
    kernels::check_host_features(x, y, k, shape, circuit.scale,
                                 core::first_backend(devices).plan().copy_threads);
    return run(devices, {&circuit, x, y, k, shape, options, host.batch, facts});
}

OpReport of_states(Devices& devices, const ConstHostArray& x, const ConstHostArray* y, const HostArray& k,
                   const KernelMatrixShape& shape, const KernelMatrixHostOptions& host) {
    const KernelMatrixOptions options = kernels::host_options(host, false);
    kernels::check_states(facts_of(x), facts_of(y), facts_of(k), shape, options);
    kernels::check_host_states(x, y, k, shape, core::first_backend(devices).plan().copy_threads);
    return run(devices, {nullptr, x, y, k, shape, options, host.batch, kernels::state_facts(x.type, true)});
}

}  // namespace

OpReport kernel_matrix(Devices& devices, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                       const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options) {
    return of_features(devices, circuit, x, nullptr, k, shape, options);
}
OpReport kernel_matrix(Devices& devices, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                       const ConstHostArray& y, const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options) {
    return of_features(devices, circuit, x, &y, k, shape, options);
}
OpReport kernel_matrix(Devices& devices, const ConstHostArray& states, const HostArray& k,
                       const KernelMatrixShape& shape, const KernelMatrixHostOptions& options) {
    return of_states(devices, states, nullptr, k, shape, options);
}
OpReport kernel_matrix(Devices& devices, const detail::GivenStates<ConstHostArray>& states,
                       const ConstHostArray& others, const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options) {
    return of_states(devices, states, &others, k, shape, options);
}

}  // namespace weft
