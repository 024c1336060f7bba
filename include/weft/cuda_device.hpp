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

}  // namespace weft::cuda
