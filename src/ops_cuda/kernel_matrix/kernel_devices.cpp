// SPDX-License-Identifier: Apache-2.0
// Completes <weft/cuda/devices.hpp>: kernel matrices on several devices. Shares are consecutive rows of a
// closed form, or consecutive blocks of K in the order in which packed states are used again; of a square K
// from both ends, so that only some devices need all states.
#include <weft/cuda/devices.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cuda/devices_state.hpp"
#include "cuda/streamed_chunks.hpp"
#include "ops/kernel_matrix/shared_matrix.hpp"
#include "ops_cuda/kernel_matrix/kernel_shares.hpp"

namespace weft::cuda {
namespace {

constexpr const char* kFunction = "kernel_matrix";

kernels::DevicePlans plan_together(Devices& devices, const kernels::HostMatrixCall& call) {
    std::vector<kernels::MatrixDevice> places;
    for (std::size_t i = 0; i < devices.size(); ++i) {
        const DeviceInfo& info = devices[i];
        places.push_back({.kind = info.name + ", " + std::to_string(info.compute_major) + "." +
                                  std::to_string(info.compute_minor),
                          .lost = devices.lost(i),
                          .plan = [&info, &call](const KernelMatrixOptions& options) {
                              const CurrentDevice current(kFunction, info);
                              return plan_on_current(call, options);
                          }});
    }
    return kernels::plan_together(places, call.options);
}

OpReport run(Devices& devices, const kernels::HostMatrixCall& call) {
    const kernels::DevicePlans plans = plan_together(devices, call);
    const kernels::MatrixItems items = kernels::shared_items(plans.first());
    const std::function<core::DeviceWorker(std::size_t)> worker = [&](std::size_t device) {
        const CurrentDevice current(kFunction, devices[device]);
        const auto shares = std::make_shared<MatrixShares>(plans.of(device), call, items);
        return [shares, &call, &info = devices[device]](const core::Share& share, core::ShareWatch& watch) {
            const CurrentDevice of_share(kFunction, info);
            return shares->make(share, watch.options(call.batch), ~std::uint64_t{0});
        };
    };
    return kernels::shared_report(
        call, plans, run_shares(devices, kernels::shared_matrix(call, plans, items, false, worker)));
}

}  // namespace

OpReport kernel_matrix(Devices& devices, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                       const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options) {
    return run(devices, kernels::checked_features(circuit, x, nullptr, k, kernels::facts_of(k), shape,
                                                  options, host_threads()));
}
OpReport kernel_matrix(Devices& devices, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                       const ConstHostArray& y, const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options) {
    return run(devices, kernels::checked_features(circuit, x, &y, k, kernels::facts_of(k), shape, options,
                                                  host_threads()));
}
OpReport kernel_matrix(Devices& devices, const ConstHostArray& states, const HostArray& k,
                       const KernelMatrixShape& shape, const KernelMatrixHostOptions& options) {
    return run(devices, kernels::checked_states(states, nullptr, k, kernels::facts_of(k), shape, options,
                                                host_threads()));
}
OpReport kernel_matrix(Devices& devices, const weft::detail::GivenStates<ConstHostArray>& states,
                       const ConstHostArray& others, const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options) {
    return run(devices, kernels::checked_states(states, &others, k, kernels::facts_of(k), shape, options,
                                                host_threads()));
}

}  // namespace weft::cuda
