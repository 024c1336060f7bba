// SPDX-License-Identifier: Apache-2.0
// Copies within device memory on the compute queue: by the copy command, or by a shader. Pure.
//
// Why: the copy command of NVIDIA's driver reaches a fifth of the bandwidth of device memory, and a shader
// reaches all of it (docs/benchmarks/h200.md).
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include <weft/device.hpp>

namespace weft::core {

struct DeviceSnapshot;

struct CopyPlan {
    /// Copies of this size and larger are made by the shader.
    std::uint64_t shader_bytes = std::numeric_limits<std::uint64_t>::max();
    std::string reason;  ///< one line for people
};

CopyPlan plan_copies(const DeviceSnapshot& device);

/// Bytes that one invocation of the copy shader copies at a time, and one workgroup in all.
inline constexpr std::uint64_t kCopyUnit = 16, kCopyWorkgroup = 256 * kCopyUnit;

/// How many bytes, from the start of a copy of `bytes`, one dispatch of the shader can copy; 0: none, because
/// an offset is not aligned or less than a unit is left.
std::uint64_t shader_part(const DeviceLimits& limits, std::uint64_t source_offset,
                          std::uint64_t target_offset, std::uint64_t bytes);

}  // namespace weft::core
