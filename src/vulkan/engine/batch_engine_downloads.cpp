// SPDX-License-Identifier: Apache-2.0
// Which downloads of a batch a copy shader makes.
#include <algorithm>
#include <string_view>

#include "vulkan/engine/batch_engine.hpp"

namespace weft::core {
namespace {

std::uint64_t sum_of(const std::vector<CopyRegion>& regions) {
    std::uint64_t bytes = 0;
    for (const CopyRegion& region : regions) bytes += region.bytes;
    return bytes;
}

// The CUDA driver library's memory: the copy engine's two directions do not get in each other's way there.
bool uncached(const BufferObject& host) {
    return std::string_view(host.memory_source()) == "cuda";
}

bool fits_shader(const Bundle& work, std::uint64_t bind_alignment) {
    const std::uint64_t alignment = std::max(bind_alignment, PacedCopy::kUnit);
    return work.downloads.size() <= kMaxPacedRegions &&
           std::all_of(work.downloads.begin(), work.downloads.end(), [&](const CopyRegion& region) {
               return region.source_offset % alignment == 0 && region.target_offset % alignment == 0 &&
                      region.bytes % PacedCopy::kUnit == 0;
           });
}

}  // namespace

std::uint32_t BatchEngine::pace_of(const Bundle& work) {
    // A batch that moves less is over several times sooner than a calibration would have paid.
    constexpr std::uint64_t kWorthCalibrating = std::uint64_t{64} << 20;
    const DownloadPlan& plan = context_.device.plan().downloads;
    const bool beside_uploads = settings_.split && work.route.copies &&
                                settings_.mode == BatchMode::pipelined && !work.uploads.empty() &&
                                !work.downloads.empty();
    if (!plan.shader || !beside_uploads) return 0;
    if (!fits_shader(work, context_.device.snapshot().limits.storage_buffer_offset_alignment)) return 0;
    if (!plan.asked) {
        if (uncached(*work.uploads.front().source) || uncached(*work.downloads.front().target)) return 0;
        const bool worth = report_.bytes_in + report_.bytes_out >= kWorthCalibrating;
        if (!worth && !context_.paced_copy.calibrated()) return 0;
    }
    return choose_pace(context_.paced_copy.calibration(backend_state_.context()), sum_of(work.uploads),
                       sum_of(work.downloads), plan.asked);
}

}  // namespace weft::core
