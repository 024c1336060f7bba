// SPDX-License-Identifier: Apache-2.0
// Copies within device memory on the compute queue: by the copy command, or by a shader. Pure.
//
// Why: by the copy command of NVIDIA's driver device memory moves at a fifth of the rate that it has, by a
// shader at all of it (docs/benchmarks/h200.md).
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include <weft/device.hpp>

namespace weft::core {

struct DeviceSnapshot;

struct CopyPlan {
    /// Copies from this size on are left to the shader.
    std::uint64_t shader_bytes = std::numeric_limits<std::uint64_t>::max();
    std::string reason;  ///< one line for people
};

CopyPlan plan_copies(const DeviceSnapshot& device);

/// Bytes that one invocation of the copy shader copies at a time, and one workgroup in all.
inline constexpr std::uint64_t kCopyUnit = 16, kCopyWorkgroup = 256 * kCopyUnit;

/// Of a copy of `bytes`, those from its start on that one dispatch of the shader can make; 0: none, since an
/// offset is not aligned or less than a unit is left.
std::uint64_t shader_part(const DeviceLimits& limits, std::uint64_t source_offset,
                          std::uint64_t target_offset, std::uint64_t bytes);

}  // namespace weft::core
