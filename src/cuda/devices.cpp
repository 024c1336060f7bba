// SPDX-License-Identifier: Apache-2.0
// Completes <weft/cuda/devices.hpp>, but for the ops.
#include <weft/cuda/devices.hpp>

#include <cuda_runtime_api.h>

#include <utility>

#include "cuda/check.hpp"
#include "cuda/device_match.hpp"
#include "cuda/devices_state.hpp"

namespace weft::cuda {

DevicesState::DevicesState(std::vector<DeviceInfo> devices)
    : SharedDevices(devices.size()), devices_(std::move(devices)) {}

CurrentDevice::CurrentDevice(const char* function, const DeviceInfo& device) {
    check(cudaGetDevice(&before_), function, "cudaGetDevice");
    check(cudaSetDevice(device.ordinal), function, "cudaSetDevice");
}

CurrentDevice::~CurrentDevice() {
    static_cast<void>(cudaSetDevice(before_));
}

OpReport run_shares(Devices& devices, const core::SharedCallOf<core::DeviceWorker>& call) {
    return core::run_shares(weft::detail::Access::state(devices), call);
}

Devices::Devices(const std::string& list)
    : state_(std::make_shared<DevicesState>(named_devices("cuda::Devices", list_devices(), list))) {}
Devices::Devices(Devices&&) noexcept = default;
Devices& Devices::operator=(Devices&&) noexcept = default;
Devices::~Devices() = default;

DevicesState& Devices::state() const {
    if (!state_) throw Error(Errc::invalid_argument, "cuda::Devices: used after it was moved from");
    return *state_;
}

std::size_t Devices::size() const {
    return state().size();
}

const DeviceInfo& Devices::operator[](std::size_t index) const {
    state().require_index("cuda::Devices", index);
    return state().info(index);
}

bool Devices::lost(std::size_t index) const {
    static_cast<void>((*this)[index]);
    return state().lost(index);
}

}  // namespace weft::cuda
