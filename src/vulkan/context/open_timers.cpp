// SPDX-License-Identifier: Apache-2.0
#include "vulkan/context/open_timers.hpp"

namespace weft::core {

void OpenTimers::add(OpenTimer& timer) {
    const std::lock_guard lock(mutex_);
    timers_.push_back(&timer);
}

void OpenTimers::remove(OpenTimer& timer) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase(timers_, &timer);
}

void OpenTimers::gather() noexcept {
    const std::lock_guard lock(mutex_);
    for (OpenTimer* timer : timers_) {
        try {
            timer->gather();
        } catch (...) {
            // The device is lost, or the host has no memory. The listener still gets the other timers' work.
        }
    }
}

}  // namespace weft::core
