// SPDX-License-Identifier: Apache-2.0
// Kernel matrices on several devices of any API: a plan for each device, so that all devices round alike, and
// how many items make a share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "devices/shared_call.hpp"
#include "ops/kernel_matrix/matrix_items.hpp"

namespace weft::kernels {

/// A device that may take part.
struct MatrixDevice {
    std::string kind;  ///< devices of one kind round alike, and get one plan
    bool lost = false, software = false;
    /// The plan of a call on this device alone. Errors: unsupported, out_of_memory, no_device,
    /// device_lost - it takes no part.
    std::function<KernelMatrixPlan(const KernelMatrixOptions& options)> plan;
};

/// The plan of each device, or why it cannot take part.
struct DevicePlans {
    std::vector<std::optional<KernelMatrixPlan>> plans;
    std::vector<std::exception_ptr> refused;
    bool software = false;  ///< only software devices take part

    /// Errors: what the first device reported - no device can take part.
    const KernelMatrixPlan& first() const;
    /// Errors: why the device takes no part.
    const KernelMatrixPlan& of(std::size_t device) const;
};
/// Plans with the same tiles of states and the same blocks, the smallest that any device has. Software
/// devices take no part beside a GPU.
DevicePlans plan_together(const std::vector<MatrixDevice>& devices, const KernelMatrixOptions& options);

/// Items below which a share is not worth its start: those of a few milliseconds.
std::uint64_t least_items(const DevicePlans& plans, std::uint64_t items);

/// The shared call that makes the items. `into_file`: they are tiles of a store.
template <class Worker>
core::SharedCallOf<Worker> shared_matrix(const HostMatrixCall& call, const DevicePlans& plans,
                                         const MatrixItems& items, bool into_file,
                                         std::function<Worker(std::size_t device)> worker) {
    const KernelMatrixPlan& plan = plans.first();
    return {.function = "kernel_matrix",
            .rates = std::string("kernel_matrix ") + to_string(plan.method) + " " +
                     std::to_string(call.shape.qubits) + (into_file ? " into a file" : ""),
            .items = items.count(),
            .least_items = least_items(plans, items.count()),
            .single_job = true,
            // The first blocks of a symmetric K need few of the states.
            .both_ends = plan.method == KernelMatrixMethod::states && plan.shape.square(),
            .refused = plans.refused,
            .progress_total = items.pairs(plan),
            .options = call.batch,
            .worker = std::move(worker)};
}

/// The report of a call that devices have shared.
OpReport shared_report(const HostMatrixCall& call, const DevicePlans& plans, OpReport shared);

}  // namespace weft::kernels
