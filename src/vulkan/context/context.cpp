// SPDX-License-Identifier: Apache-2.0
#include "vulkan/context/context.hpp"

#include <string>

namespace weft::core {

/// One row a physical queue, named for all roles that share it.
void Context::add_queue_rows() {
    constexpr std::array<const char*, kQueueRoles> kNames{"upload", "compute", "download"};
    std::array<bool, kQueueRoles> done{};
    for (std::size_t i = 0; i < kQueueRoles; ++i) {
        if (done[i]) continue;
        const auto role = static_cast<QueueRole>(i);
        const QueueSlot slot = device.queue(role).slot;
        std::string roles;
        for (std::size_t k = i; k < kQueueRoles; ++k) {
            if (&device.queue(static_cast<QueueRole>(k)) != &device.queue(role)) continue;
            done[k] = true;
            roles += (roles.empty() ? "" : ", ") + std::string(kNames[k]);
        }
        const TrackId row = trace.add_row({TraceTrack::queue, clocks.timed(role),
                                           "queue family " + std::to_string(slot.family) + " queue " +
                                               std::to_string(slot.queue) + " (" + roles + ")"});
        for (std::size_t k = i; k < kQueueRoles; ++k)
            if (&device.queue(static_cast<QueueRole>(k)) == &device.queue(role)) queue_rows_[k] = row;
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
