// SPDX-License-Identifier: Apache-2.0
// What every resource keeps alive: device, timelines, memory, pipelines. Destroyed when the last of them is
// gone.
#pragma once

#include <memory>

#include "core/buffer_object.hpp"
#include "core/device.hpp"
#include "core/memory_pool.hpp"
#include "core/pipeline_cache.hpp"
#include "core/timeline.hpp"

namespace weft::core {

class Context {
  public:
    Context(std::shared_ptr<Instance> instance, VkPhysicalDevice physical, DeviceSnapshot snapshot,
            DevicePlan plan, const Config& config, AdoptedDevice adopted = {})
        : device(std::move(instance), physical, std::move(snapshot), std::move(plan), std::move(adopted)),
          timelines(device),
          memory(device),
          pipelines(device, config) {
        memory.set_limit(config.memory_limit);
    }

    // Order matters: members go in reverse, so the device outlives all that was made from it.
    Device device;
    Timelines timelines;
    MemoryPool memory;
    PipelineCache pipelines;
    HostRanges host_ranges;
};

}  // namespace weft::core
