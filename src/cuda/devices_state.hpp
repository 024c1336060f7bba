// SPDX-License-Identifier: Apache-2.0
// What a cuda::Devices points at, and the device that a share runs on. devices.cpp implements it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <weft/cuda/devices.hpp>

#include "devices/shared_call.hpp"

namespace weft::cuda {

class DevicesState final : public core::SharedDevices {
  public:
    explicit DevicesState(std::vector<DeviceInfo> devices);

    const DeviceInfo& info(std::size_t device) const { return devices_[device]; }

    const std::string& name(std::size_t device) const override { return devices_[device].name; }
    DeviceType type(std::size_t) const override { return DeviceType::discrete; }
    std::uint64_t chunk_bytes(std::size_t) const override { return 0; }
    const core::CpuSet& node_cpus(std::size_t) const override { return any_cpu_; }

  private:
    const std::vector<DeviceInfo> devices_;
    const core::CpuSet any_cpu_;
};

/// Makes a device the calling thread's current one, until the end of this object. Errors: as CUDA reports
/// them.
class CurrentDevice {
  public:
    CurrentDevice(const char* function, const DeviceInfo& device);
    ~CurrentDevice();
    CurrentDevice(const CurrentDevice&) = delete;
    CurrentDevice& operator=(const CurrentDevice&) = delete;

  private:
    int before_ = 0;
};

/// core::run_shares() on the devices.
OpReport run_shares(Devices& devices, const core::SharedCallOf<core::DeviceWorker>& call);

/// A worker that does its shares on its device by work(share, watch).
template <class Work>
std::function<core::DeviceWorker(std::size_t)> on_each(Devices& devices, const char* function,
                                                       const Work& work) {
    return [&devices, &work, function](std::size_t device) -> core::DeviceWorker {
        return [&devices, &work, function, device](const core::Share& share, core::ShareWatch& watch) {
            const CurrentDevice current(function, devices[device]);
            return work(share, watch);
        };
    };
}

}  // namespace weft::cuda
