// SPDX-License-Identifier: Apache-2.0
// The CUDA devices of this machine. Target weft::cuda.
#pragma once

#include <string>
#include <vector>

namespace weft::cuda {

struct DeviceInfo {
    int ordinal = 0;  ///< as cudaSetDevice takes it
    std::string name;
    std::string uuid;  ///< 32 hexadecimal digits, as weft::DeviceInfo::uuid of the same GPU under Vulkan
    int compute_major = 0, compute_minor = 0;
};

/// Every device that the CUDA driver shows, in its order.
/// Errors: no_device - no NVIDIA driver, one too old for this build, or no device; the text says which.
std::vector<DeviceInfo> list_devices();

/// The first device that `setting` names, as Config::device does: an index, here the ordinal, the first four
/// or more digits of a UUID, or a part of a name; empty: the first of all. The current device stays what it
/// was. Errors: invalid_argument - it names none; the text lists what is there; as list_devices.
DeviceInfo find_device(const std::string& setting);

}  // namespace weft::cuda
