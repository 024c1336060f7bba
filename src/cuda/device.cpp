// SPDX-License-Identifier: Apache-2.0
#include <weft/cuda/device.hpp>

#include <weft/error.hpp>

#include "cuda/check.hpp"
#include "cuda/device_match.hpp"
#include "plan/device/device_match.hpp"

namespace weft::cuda {
namespace {

std::string hexadecimal(const cudaUUID_t& uuid) {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (const char c : uuid.bytes) {
        const auto byte = static_cast<unsigned char>(c);
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
    }
    return text;
}

}  // namespace

const DeviceInfo& match_device(const std::vector<DeviceInfo>& devices, const std::string& name,
                               const std::string& uuid) {
    std::string there;
    for (const DeviceInfo& d : devices) {
        if (d.uuid == uuid) return d;
        there += (there.empty() ? "" : ", ") + d.name + " " + d.uuid;
    }
    throw Error(Errc::no_device, "cuda::Device: no CUDA device is the backend's GPU (got " +
                                     (there.empty() ? "none" : there) + ", need " + name + " " + uuid +
                                     "; CUDA_VISIBLE_DEVICES hides devices from CUDA alone)");
}

std::vector<DeviceInfo> named_devices(const char* function, const std::vector<DeviceInfo>& devices,
                                      const std::string& setting) {
    std::vector<core::DeviceName> names;
    std::string there;
    for (const DeviceInfo& d : devices) {
        names.push_back({d.name, d.uuid});
        there += (there.empty() ? "" : "; ") + std::to_string(d.ordinal) + ": " + d.name;
    }
    const std::vector<core::NamedDevices> list = core::match_setting(function, names, setting);
    std::vector<DeviceInfo> found;
    for (const core::NamedDevices& named : list) {
        if (named.indices.empty())
            throw Error(Errc::invalid_argument,
                        std::string(function) + ": no device matches \"" + named.name +
                            "\" (need an index, the first 4 or more digits of a UUID, a part of a name, all, "
                            "or a list of these with commas between; there is " +
                            there + ")");
        for (const std::uint32_t index : named.indices) found.push_back(devices[index]);
    }
    if (setting.empty()) found.resize(1);
    return found;
}

DeviceInfo find_device(const std::string& setting) {
    return named_devices("cuda::find_device", list_devices(), setting).front();
}

std::vector<DeviceInfo> list_devices() {
    constexpr const char* kFunction = "cuda::list_devices";
    require_device(kFunction);
    int count = 0;
    check(cudaGetDeviceCount(&count), kFunction, "cudaGetDeviceCount");
    std::vector<DeviceInfo> devices;
    for (int i = 0; i < count; ++i) {
        cudaDeviceProp p{};
        check(cudaGetDeviceProperties(&p, i), kFunction, "cudaGetDeviceProperties");
        devices.push_back({i, p.name, hexadecimal(p.uuid), p.major, p.minor});
    }
    return devices;
}

}  // namespace weft::cuda
