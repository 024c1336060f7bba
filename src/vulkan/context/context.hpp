// SPDX-License-Identifier: Apache-2.0
// Device, timelines, memory and pipelines: every resource keeps them alive, and they are destroyed with the
// last one.
#pragma once

#include <memory>

#include "trace/trace_recorder.hpp"
#include "vulkan/context/buffer_object.hpp"
#include "vulkan/context/external_timeline.hpp"
#include "vulkan/context/open_timers.hpp"
#include "vulkan/device/device.hpp"
#include "vulkan/device/pipeline_cache.hpp"
#include "vulkan/device/queue_clocks.hpp"
#include "vulkan/device/timeline.hpp"
#include "vulkan/memory/memory_pool.hpp"

namespace weft::core {

/// Owns one Device and what is made from it for every Backend, buffer and stream that uses it.
class Context {
  public:
    Context(std::shared_ptr<Instance> instance, VkPhysicalDevice physical, DeviceSnapshot snapshot,
            DevicePlan plan, const Config& config, AdoptedDevice adopted = {})
        : device(std::move(instance), physical, std::move(snapshot), std::move(plan), std::move(adopted)),
          timelines(device),
          clocks(device, timelines),
          memory(device, trace),
          pipelines(device, config),
          budget(dispatch_budget(device.snapshot(), device.plan().dispatch_ms)) {
        memory.set_limit(config.memory_limit);
        add_queue_rows();
    }

    // The order matters: members are destroyed in reverse, so the device outlives everything made from it.
    TraceRecorder trace;
    OpenTimers timers;
    Device device;
    Timelines timelines;
    QueueClocks clocks;
    MemoryPool memory;
    PipelineCache pipelines;
    const DispatchBudget budget;
    CopyShader copy_shader;
    HostRanges host_ranges;
    ExternalTimelines externals;

    TrackId row_of(QueueRole role) const { return queue_rows_[static_cast<std::size_t>(role)]; }
    /// A listener of `trace` that knows what memory is in use, with the clocks calibrated for it.
    /// Errors: device_lost, driver.
    std::shared_ptr<TraceSink> add_listener(std::uint64_t max_events);
    /// The events of the listener so far, including all work that is done by now.
    TraceData snapshot_trace(const TraceSink& sink);

  private:
    void add_queue_rows();

    std::array<TrackId, kQueueRoles> queue_rows_{};
};

}  // namespace weft::core
