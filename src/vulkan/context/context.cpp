// SPDX-License-Identifier: Apache-2.0
#include "vulkan/context/context.hpp"

#include <string>

namespace weft::core {

/// One row for each physical queue, named for all roles that share it.
void Context::add_queue_rows() {
    for (std::size_t i = 0; i < kQueueRoles; ++i) {
        const auto role = static_cast<QueueRole>(i);
        const PhysicalQueue& queue = device.queue(role);
        for (std::size_t k = 0; k < i && queue_rows_[i] == 0; ++k)
            if (&device.queue(static_cast<QueueRole>(k)) == &queue) queue_rows_[i] = queue_rows_[k];
        if (queue_rows_[i] == 0)
            queue_rows_[i] = trace.add_row(
                {TraceTrack::queue, clocks.timed(role),
                 "queue " + queue_text(queue.slot) + " (" + device.roles_of(queue, ", ") + ")"});
    }
}

std::shared_ptr<TraceSink> Context::add_listener(std::uint64_t max_events) {
    device.require_usable("Profile");
    clocks.refresh(true);
    return memory.add_listener(max_events);
}

TraceData Context::snapshot_trace(const TraceSink& sink) {
    timers.gather();
    TraceData data = trace.read(sink);
    data.device = device.snapshot().name;
    data.clock = clocks.describe();
    return data;
}

}  // namespace weft::core
