// SPDX-License-Identifier: Apache-2.0
// Devices of one API that share calls: what a shared call needs to know of them, which of them are lost, and
// how fast each was in earlier calls.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <weft/device.hpp>

#include "host/cpu_set.hpp"

namespace weft::core {

/// Thread-safe.
class SharedDevices {
  public:
    explicit SharedDevices(std::size_t devices);
    virtual ~SharedDevices() = default;
    SharedDevices(const SharedDevices&) = delete;
    SharedDevices& operator=(const SharedDevices&) = delete;

    std::size_t size() const { return lost_->size(); }
    virtual const std::string& name(std::size_t device) const = 0;
    virtual DeviceType type(std::size_t device) const = 0;
    /// Of the chunks in which a call on the device alone streams, if it was tuned; 0: unknown.
    virtual std::uint64_t chunk_bytes(std::size_t device) const = 0;
    /// Where threads and page-locked memory of the device should be; empty: anywhere.
    virtual const CpuSet& node_cpus(std::size_t device) const = 0;

    /// Errors: invalid_argument - beyond the last; the text names the `type` of the list.
    void require_index(const char* type, std::size_t index) const;

    void set_lost(std::size_t device) { (*lost_)[device] = true; }
    bool lost(std::size_t device) const { return (*lost_)[device]; }
    /// set_lost for objects that may outlive this one.
    std::function<void(std::size_t)> lost_marker() const {
        return [lost = lost_](std::size_t device) { (*lost)[device] = true; };
    }
    /// Indices of the devices that are not lost. Errors: device_lost - there is none.
    std::vector<std::size_t> usable(const char* function) const;

    /// Items a second of a device in earlier calls of that kind; 0: unknown.
    double rate(const std::string& kind, std::size_t device) const;
    /// `rate`: measured in a call; 0: the device took no share. What is known of a device that is too slow to
    /// get shares rises with each call, so that it is measured again at some time.
    void note_rate(const std::string& kind, std::size_t device, double rate);

  private:
    std::shared_ptr<std::vector<std::atomic<bool>>> lost_;
    mutable std::mutex mutex_;  // guards what follows
    std::map<std::string, std::vector<double>> rates_;
};

}  // namespace weft::core
