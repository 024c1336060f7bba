// SPDX-License-Identifier: Apache-2.0
// The items of a call on host memory, made on one device or shared among several.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <weft/devices.hpp>
#include <weft/error.hpp>
#include <weft/ops/kernel_matrix.hpp>

#include "ops/kernel_matrix/kernel_plan.hpp"
#include "ops/kernel_matrix/matrix_items.hpp"
#include "ops/kernel_matrix/shared_matrix.hpp"
#include "ops/kernel_matrix/store_tiles.hpp"
#include "vulkan/devices/shared_call.hpp"

namespace weft::kernels {

/// Makes items on one device. What it has packed stays for its next share. All arguments must outlive it.
class MatrixShares {
  public:
    virtual ~MatrixShares() = default;
    /// Calls `in_place` with the index of each item. `all_pairs` is the total of the progress. Errors: as
    /// StreamedBlocks and StreamedRows.
    virtual OpReport make(const core::Share& share, const BatchOptions& batch, std::uint64_t all_pairs,
                          const InPlace& in_place) = 0;
    /// The same without progress. Its last blocks may be on their way when it returns; finish() waits for
    /// them, without which none of K is certain.
    virtual void begin(const core::Share& share, const BatchOptions& batch) = 0;
    virtual void finish() = 0;
};
std::unique_ptr<MatrixShares> make_shares(Backend& backend, const KernelMatrixPlan& plan,
                                          const HostMatrixCall& call, const MatrixItems& items);

/// The plan of one device, after measuring tiles if that pays.
KernelMatrixPlan plan_on(Backend& backend, const HostMatrixCall& call, const KernelMatrixOptions& options);

/// What rounds, as facts of a store.
StoreFacts device_facts(const DeviceInfo& device);
/// apply_pin for this device.
std::string pin_plan(Backend& backend, const HostMatrixCall& call, KernelMatrixPlan& plan,
                     const StorePin& pin);
DevicePlans plan_together(Backend& backend, const HostMatrixCall& call);
DevicePlans plan_together(Devices& devices, const HostMatrixCall& call);
/// Makes the items on the devices. `in_place` is called from the threads of several devices.
OpReport share_items(Backend& backend, const HostMatrixCall& call, const DevicePlans& plans,
                     const MatrixItems& items, const InPlace& in_place = {});
OpReport share_items(Devices& devices, const HostMatrixCall& call, const DevicePlans& plans,
                     const MatrixItems& items, const InPlace& in_place = {});

inline Backend& device_at(Backend& backend, std::size_t) {
    return backend;
}
inline Backend& device_at(Devices& devices, std::size_t index) {
    return devices[index];
}
/// device_facts of the devices that have a plan. Errors: unsupported - they round differently.
template <class Where>
StoreFacts facts_of_devices(Where& where, const DevicePlans& plans) {
    StoreFacts facts;
    for (std::size_t i = 0; i < plans.plans.size(); ++i) {
        if (!plans.plans[i]) continue;
        StoreFacts own = device_facts(device_at(where, i).device());
        if (!facts.empty() && facts != own)
            throw Error(Errc::unsupported,
                        "kernel_matrix: devices that write one file must be of one kind "
                        "(got " +
                            facts.front().value + " and " + own.front().value + "; name one kind)");
        facts = std::move(own);
    }
    return facts;
}
/// pin_plan for each plan.
template <class Where>
std::string pin_plans(Where& where, const HostMatrixCall& call, DevicePlans& plans, const StorePin& pin) {
    for (std::size_t i = 0; i < plans.plans.size(); ++i)
        if (plans.plans[i])
            if (std::string what = pin_plan(device_at(where, i), call, *plans.plans[i], pin); !what.empty())
                return what;
    return {};
}

}  // namespace weft::kernels
