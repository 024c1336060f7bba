// SPDX-License-Identifier: Apache-2.0
#include "plan/device/copy_plan.hpp"

#include <algorithm>

#include "plan/device/device_snapshot.hpp"

namespace weft::core {

CopyPlan plan_copies(const DeviceSnapshot& device) {
    constexpr std::uint32_t kNvidia = 0x10de;
    // For smaller copies the two differ by a microsecond at most, which is not worth a pipeline.
    constexpr std::uint64_t kLeast = std::uint64_t{64} << 10;
    CopyPlan plan;
    if (device.vendor_id != kNvidia || device.type != DeviceType::discrete) {
        plan.reason = "the copy command (not a card of NVIDIA's)";
        return plan;
    }
    plan.shader_bytes = kLeast;
    plan.reason = "a copy shader from " + std::to_string(kLeast) + " bytes on";
    return plan;
}

std::uint64_t shader_part(const DeviceLimits& limits, std::uint64_t source_offset,
                          std::uint64_t target_offset, std::uint64_t bytes) {
    const std::uint64_t alignment =
        std::max<std::uint64_t>(kCopyUnit, limits.storage_buffer_offset_alignment);
    if (source_offset % alignment != 0 || target_offset % alignment != 0) return 0;
    const std::uint64_t workgroups = std::max<std::uint64_t>(limits.max_workgroup_count[0], 1);
    const std::uint64_t most =
        std::min<std::uint64_t>(limits.max_storage_buffer_range, workgroups * kCopyWorkgroup);
    if (bytes > most) return most - most % alignment;
    return bytes - bytes % kCopyUnit;
}

}  // namespace weft::core
