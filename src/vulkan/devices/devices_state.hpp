// SPDX-License-Identifier: Apache-2.0
// What a Devices points at: its backends, which of them are lost, and how fast each was in earlier calls.
// devices.cpp has the rest.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <weft/devices.hpp>

namespace weft::core {

class DevicesState {
  public:
    explicit DevicesState(std::vector<Backend> backends);

    std::vector<Backend>& backends() { return backends_; }
    void set_lost(std::size_t device) { lost_->set(device); }
    bool lost(std::size_t device) const { return lost_->has(device); }
    /// set_lost for objects that may outlive this one.
    std::function<void(std::size_t)> lost_marker() const {
        return [lost = lost_](std::size_t device) { lost->set(device); };
    }
    /// Indices of the devices that are not lost. Errors: device_lost - there is none.
    std::vector<std::size_t> usable(const char* function) const;

    /// Items a second of a device in earlier calls of that kind; 0: unknown.
    double rate(const std::string& kind, std::size_t device) const;
    /// `rate`: measured in a call; 0: the device took no share. What is known of a device that is too slow to
    /// get shares rises with each call, so that it is measured again at some time.
    void note_rate(const std::string& kind, std::size_t device, double rate);

  private:
    /// Thread-safe.
    class LostDevices {
      public:
        explicit LostDevices(std::size_t devices) : lost_(devices) {}
        void set(std::size_t device) { lost_[device] = true; }
        bool has(std::size_t device) const { return lost_[device]; }

      private:
        std::vector<std::atomic<bool>> lost_;
    };

    std::vector<Backend> backends_;
    std::shared_ptr<LostDevices> lost_;
    mutable std::mutex mutex_;  // guards what follows
    std::map<std::string, std::vector<double>> rates_;
};

}  // namespace weft::core
