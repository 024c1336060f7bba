// SPDX-License-Identifier: Apache-2.0
// The timers that exist, so that a listener gets work that is done although no caller waited for it.
#pragma once

#include <mutex>
#include <vector>

namespace weft::core {

class OpenTimer {
  public:
    virtual ~OpenTimer() = default;
    /// Reports work that is done. May be called from any thread, also while the timer is in use. Errors:
    /// device_lost, driver.
    virtual void gather() = 0;
};

/// Thread-safe. A timer is registered for as long as it exists.
class OpenTimers {
  public:
    void add(OpenTimer& timer) {
        const std::lock_guard lock(mutex_);
        timers_.push_back(&timer);
    }
    void remove(OpenTimer& timer) noexcept {
        const std::lock_guard lock(mutex_);
        std::erase(timers_, &timer);
    }
    /// A timer that cannot be read now is skipped.
    void gather() noexcept {
        const std::lock_guard lock(mutex_);
        for (OpenTimer* timer : timers_) {
            try {
                timer->gather();
            } catch (...) {
                // The device is lost, or the host has no memory.
            }
        }
    }

  private:
    std::mutex mutex_;
    std::vector<OpenTimer*> timers_;
};

}  // namespace weft::core
