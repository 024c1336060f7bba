// SPDX-License-Identifier: Apache-2.0
// Completes <weft/ops/kernel_matrix.hpp>: kernel matrices on several devices. Shares are consecutive rows of
// a closed form, or consecutive blocks of K in the order in which packed states are used again; of a square K
// from both ends, so that only some devices need all states.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <weft/devices.hpp>
#include <weft/ops/kernel_matrix.hpp>

#include "ops_vulkan/kernel_matrix/kernel_shares.hpp"
#include "vulkan/devices/shared_call.hpp"

namespace weft {
namespace kernels {

DevicePlans plan_together(Devices& devices, const HostMatrixCall& call) {
    std::vector<MatrixDevice> places;
    for (std::size_t i = 0; i < devices.size(); ++i) {
        const DeviceInfo& info = devices[i].device();
        places.push_back({.kind = info.name + ", " + info.driver,
                          .lost = devices.lost(i),
                          .software = info.type == DeviceType::cpu,
                          .plan = [&devices, &call, i](const KernelMatrixOptions& options) {
                              return plan_on(devices[i], call, options);
                          }});
    }
    return plan_together(places, call.options);
}

OpReport share_items(Devices& devices, const HostMatrixCall& call, const DevicePlans& plans,
                     const MatrixItems& items, const InPlace& in_place) {
    const std::function<core::ShareWorker(std::size_t)> worker = [&](std::size_t device) {
        const std::shared_ptr<MatrixShares> shares =
            make_shares(devices[device], plans.of(device), call, items);
        return [shares, &call, &in_place](Backend&, const core::Share& share, core::ShareWatch& watch) {
            return shares->make(share, watch.options(call.batch), ~std::uint64_t{0}, in_place);
        };
    };
    return shared_report(call, plans,
                         core::run_shares(devices, shared_matrix(call, plans, items, !!in_place, worker)));
}

}  // namespace kernels

namespace {

OpReport run(Devices& devices, const kernels::HostMatrixCall& call) {
    const kernels::DevicePlans plans = kernels::plan_together(devices, call);
    return kernels::share_items(devices, call, plans, kernels::shared_items(plans.first()));
}

std::uint32_t threads_of(Devices& devices) {
    return core::first_backend(devices).plan().copy_threads;
}

}  // namespace

OpReport kernel_matrix(Devices& devices, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                       const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options) {
    return run(devices, kernels::checked_features(circuit, x, nullptr, k, kernels::facts_of(k), shape,
                                                  options, threads_of(devices)));
}
OpReport kernel_matrix(Devices& devices, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                       const ConstHostArray& y, const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options) {
    return run(devices, kernels::checked_features(circuit, x, &y, k, kernels::facts_of(k), shape, options,
                                                  threads_of(devices)));
}
OpReport kernel_matrix(Devices& devices, const ConstHostArray& states, const HostArray& k,
                       const KernelMatrixShape& shape, const KernelMatrixHostOptions& options) {
    return run(devices, kernels::checked_states(states, nullptr, k, kernels::facts_of(k), shape, options,
                                                threads_of(devices)));
}
OpReport kernel_matrix(Devices& devices, const detail::GivenStates<ConstHostArray>& states,
                       const ConstHostArray& others, const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options) {
    return run(devices, kernels::checked_states(states, &others, k, kernels::facts_of(k), shape, options,
                                                threads_of(devices)));
}

}  // namespace weft
