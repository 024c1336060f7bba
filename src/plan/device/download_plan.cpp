// SPDX-License-Identifier: Apache-2.0
#include "plan/device/download_plan.hpp"

#include <algorithm>

#include "plan/device/device_plan.hpp"

namespace weft::core {

DownloadPlan plan_downloads(const DeviceSnapshot& device, const QueuePlan& queues, const Config& config) {
    constexpr std::uint32_t kNvidia = 0x10de;
    const bool two_ways = queues.split && !(queues.of(QueueRole::upload) == queues.of(QueueRole::download));
    if (config.downloads == DownloadBy::shader)
        return {true, true, "a paced copy shader while uploads run (asked for)"};
    if (config.downloads == DownloadBy::engine) return {false, false, "the copy engine (asked for)"};
    if (device.vendor_id != kNvidia) return {false, false, "the copy engine (not an NVIDIA GPU)"};
    if (!two_ways) return {false, false, "the copy engine (copies do not go both ways at once)"};
    return {
        true, false,
        "the copy engine; while uploads run and page-locked memory is Vulkan's, a paced copy shader where "
        "that is measured to be faster"};
}

bool try_more(const std::vector<DuplexTrial>& shader) {
    constexpr double kFell = 0.9;
    double best = 0;
    for (const DuplexTrial& trial : shader) best = std::max(best, trial.up + trial.down);
    return shader.empty() || shader.back().up + shader.back().down >= kFell * best;
}

double duplex_seconds(const DuplexCalibration& rates, const DuplexTrial& trial, double bytes_in,
                      double bytes_out) {
    constexpr double kLeast = 1;  // a direction that did not move at all
    const double up = std::max(trial.up, kLeast), down = std::max(trial.down, kLeast);
    const double both = std::min(bytes_in / up, bytes_out / down);
    // A shader keeps its pace when the uploads are over.
    const double down_alone = trial.bundles != 0 ? down : std::max(rates.down_alone, kLeast);
    return both + std::max(0.0, bytes_in - both * up) / std::max(rates.up_alone, kLeast) +
           std::max(0.0, bytes_out - both * down) / down_alone;
}

std::uint32_t choose_pace(const DuplexCalibration& rates, std::uint64_t bytes_in, std::uint64_t bytes_out,
                          bool asked) {
    constexpr double kClearly = 0.95;  // measured rates scatter by some percent
    const auto seconds = [&](const DuplexTrial& trial) {
        return duplex_seconds(rates, trial, static_cast<double>(bytes_in), static_cast<double>(bytes_out));
    };
    const auto best = std::min_element(rates.shader.begin(), rates.shader.end(),
                                       [&](const auto& a, const auto& b) { return seconds(a) < seconds(b); });
    if (best == rates.shader.end()) return 0;
    return asked || seconds(*best) < kClearly * seconds(rates.engine) ? best->bundles : 0;
}

}  // namespace weft::core
