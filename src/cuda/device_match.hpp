// SPDX-License-Identifier: Apache-2.0
// Which CUDA device a Vulkan device is.
#pragma once

#include <string>
#include <vector>

#include <weft/cuda_device.hpp>

namespace weft::cuda {

/// The device with that UUID. Errors: no_device - the text names what is there and what was needed.
const DeviceInfo& match_device(const std::vector<DeviceInfo>& devices, const std::string& name,
                               const std::string& uuid);

}  // namespace weft::cuda
