// SPDX-License-Identifier: Apache-2.0
// How results leave the device while others arrive: by the copy engine, or by a copy shader whose pace leaves
// the uploads their share of the bus. Pure functions over plain data.
//
// Why: where both directions go through the GPU's L2, as Vulkan's host memory does on NVIDIA GPUs, the copy
// engine's downloads starve uploads. A shader that writes a little more slowly does not, while one that
// writes faster is worse than the engine; so its pace is measured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/config.hpp>

namespace weft::core {

struct DeviceSnapshot;
struct QueuePlan;

struct DownloadPlan {
    bool shader = false;  ///< the copy shader may be taken beside uploads
    bool asked = false;   ///< it is taken wherever it can be, measured faster or not
    std::string reason;   ///< one line for people
};

DownloadPlan plan_downloads(const DeviceSnapshot& device, const QueuePlan& queues, const Config& config);

/// Bytes a second of both directions while they run at once; by the copy engine, or by a copy shader of
/// `bundles` workgroups.
struct DuplexTrial {
    std::uint32_t bundles = 0;  ///< 0: the copy engine
    double up = 0, down = 0;
};

struct DuplexCalibration {
    double up_alone = 0, down_alone = 0;  ///< by the copy engine
    DuplexTrial engine;
    std::vector<DuplexTrial> shader;
};

/// Whether more workgroups are worth trying after these: no longer once they are slower in sum.
bool try_more(const std::vector<DuplexTrial>& shader);

/// Seconds for so many bytes each way: both at once as long as both have some left, then one alone.
double duplex_seconds(const DuplexCalibration& rates, const DuplexTrial& trial, double bytes_in,
                      double bytes_out);

/// Workgroups of the copy shader for these bytes, or 0: the copy engine, which is taken unless the shader is
/// clearly faster. `asked`: the best of the shader's in any case.
std::uint32_t choose_pace(const DuplexCalibration& rates, std::uint64_t bytes_in, std::uint64_t bytes_out,
                          bool asked);

}  // namespace weft::core
