// SPDX-License-Identifier: Apache-2.0
// Completes <weft/cuda/devices.hpp>: kernel matrices, each on the first device that works.
#include <weft/cuda/devices.hpp>

#include "cuda/devices_state.hpp"

namespace weft::cuda {
namespace {

/// `call` makes the matrix on the current device. If the device is lost, or has no memory, the next one makes
/// it.
template <class Call>
OpReport on_one(Devices& devices, const KernelMatrixShape& shape, const BatchOptions& batch,
                const Call& call) {
    constexpr const char* kFunction = "kernel_matrix";
    OpReport made;
    const auto work = [&](const core::Share&, core::ShareWatch& watch) {
        return made = call(watch.options(batch));
    };
    const OpReport shared = run_shares(devices, {.function = kFunction,
                                                 .rates = kFunction,
                                                 .items = 1,
                                                 .single_job = true,
                                                 .progress_total = shape.pairs(),
                                                 .options = batch,
                                                 .worker = on_each(devices, kFunction, work)});
    made.devices = shared.devices;
    for (DeviceReport& row : made.devices)
        if (row.shares == 0 && !row.lost) row.note = "kernel matrices of CUDA run on one device";
    return made;
}

KernelMatrixHostOptions with(const KernelMatrixHostOptions& options, const BatchOptions& batch) {
    KernelMatrixHostOptions made = options;
    made.batch = batch;
    return made;
}

}  // namespace

OpReport kernel_matrix(Devices& devices, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                       const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options) {
    return on_one(devices, shape, options.batch, [&](const BatchOptions& batch) {
        return kernel_matrix(circuit, x, k, shape, with(options, batch));
    });
}
OpReport kernel_matrix(Devices& devices, const KernelMatrixCircuit& circuit, const ConstHostArray& x,
                       const ConstHostArray& y, const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options) {
    return on_one(devices, shape, options.batch, [&](const BatchOptions& batch) {
        return kernel_matrix(circuit, x, y, k, shape, with(options, batch));
    });
}
OpReport kernel_matrix(Devices& devices, const ConstHostArray& states, const HostArray& k,
                       const KernelMatrixShape& shape, const KernelMatrixHostOptions& options) {
    return on_one(devices, shape, options.batch, [&](const BatchOptions& batch) {
        return kernel_matrix(states, k, shape, with(options, batch));
    });
}
OpReport kernel_matrix(Devices& devices, const weft::detail::GivenStates<ConstHostArray>& states,
                       const ConstHostArray& others, const HostArray& k, const KernelMatrixShape& shape,
                       const KernelMatrixHostOptions& options) {
    return on_one(devices, shape, options.batch, [&](const BatchOptions& batch) {
        return kernel_matrix(states, others, k, shape, with(options, batch));
    });
}

}  // namespace weft::cuda
