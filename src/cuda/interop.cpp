// SPDX-License-Identifier: Apache-2.0
#include <weft/cuda/interop.hpp>

#include <string>

#include "cuda/device_state.hpp"

namespace weft::cuda {

Device::Device(Backend& backend) : state_(std::make_shared<detail::DeviceState>(backend)) {}

const std::shared_ptr<detail::DeviceState>& Device::state() const {
    if (!state_) throw Error(Errc::invalid_argument, "cuda::Device: used after it was moved from");
    return state_;
}

int Device::ordinal() const {
    return state()->info().ordinal;
}

const DeviceInfo& Device::info() const {
    return state()->info();
}

void Device::wait_for(StreamHandle stream, const Event& event) const {
    state()->wait_for(stream, event, "cuda::Device::wait_for");
}

void Device::wait_for_all(StreamHandle stream) const {
    state()->wait_for_all(stream);
}

Event Device::event(StreamHandle stream) const {
    return state()->event(stream, "cuda::Device::event");
}

void Device::hold_weft(StreamHandle stream) const {
    const Event reached = state()->event(stream, "cuda::Device::hold_weft");
    core::hold_all(state()->backend_state(), reached);
}

}  // namespace weft::cuda
