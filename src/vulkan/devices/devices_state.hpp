// SPDX-License-Identifier: Apache-2.0
// What a Devices points at: its backends, which of them are lost, and how fast each was in earlier calls.
// devices.cpp has the rest.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <weft/devices.hpp>

namespace weft::core {

class DevicesState {
  public:
    explicit DevicesState(std::vector<Backend> backends);

    std::vector<Backend>& backends() { return backends_; }
    void set_lost(std::size_t device);
    bool lost(std::size_t device) const;
    /// Indices of the devices that are not lost. Errors: device_lost - there is none.
    std::vector<std::size_t> usable(const char* function) const;

    /// Items a second of a device in earlier calls of that kind; 0: unknown.
    double rate(const std::string& kind, std::size_t device) const;
    void set_rate(const std::string& kind, std::size_t device, double rate);

  private:
    std::vector<Backend> backends_;
    mutable std::mutex mutex_;  // guards what follows
    std::vector<bool> lost_;
    std::map<std::string, std::vector<double>> rates_;
};

}  // namespace weft::core
