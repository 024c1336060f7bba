// SPDX-License-Identifier: Apache-2.0
// A CUDA device as the plans of src/ops see devices.
#pragma once

#include <weft/device.hpp>

namespace weft::cuda {

/// A discrete GPU with 64-bit integers and doubles, blocks of at most `most_threads`, and bindings of nearly
/// 4 GiB, because kernels count in 32 bits as shaders do. It is the same for every device, so that no query
/// is needed.
weft::DeviceInfo plan_device(std::uint32_t most_threads = 256);

}  // namespace weft::cuda
