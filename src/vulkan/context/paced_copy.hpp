// SPDX-License-Identifier: Apache-2.0
// The copy shader that downloads beside uploads may take, and how fast both directions are with it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "plan/device/download_plan.hpp"
#include "vulkan/device/pipeline_cache.hpp"

namespace weft::core {

class Context;

/// One of a context. May be used from any thread.
class PacedCopy {
  public:
    /// Errors: out_of_memory, driver.
    const Pipeline& pipeline(PipelineCache& pipelines);
    bool calibrated() const { return calibrated_; }
    /// Measured by the first call, which takes about a twentieth of a second and 32 MiB of either memory.
    /// What fails leaves nothing to choose, so that the copy engine is taken. Errors: device_lost.
    const DuplexCalibration& calibration(const std::shared_ptr<Context>& context);

    /// Bytes that one invocation copies at a time: what offsets and sizes must be multiples of.
    static constexpr std::uint64_t kUnit = 16;

  private:
    std::mutex mutex_;  // guards the pipeline
    const Pipeline* pipeline_ = nullptr;
    std::mutex calibrating_;  // taken first
    DuplexCalibration calibration_;
    std::atomic<bool> calibrated_ = false;
};

}  // namespace weft::core
