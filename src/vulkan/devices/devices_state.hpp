// SPDX-License-Identifier: Apache-2.0
// What a Devices points at: its backends, as devices that share calls. devices.cpp has the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <weft/devices.hpp>

#include "devices/shared_devices.hpp"

namespace weft::core {

class DevicesState final : public SharedDevices {
  public:
    explicit DevicesState(std::vector<Backend> backends);

    std::vector<Backend>& backends() { return backends_; }

    const std::string& name(std::size_t device) const override;
    DeviceType type(std::size_t device) const override;
    std::uint64_t chunk_bytes(std::size_t device) const override;
    const CpuSet& node_cpus(std::size_t device) const override;

  private:
    std::vector<Backend> backends_;
};

}  // namespace weft::core
