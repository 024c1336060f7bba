// SPDX-License-Identifier: Apache-2.0
// Converts the timestamps of every queue to the host's clock.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "trace/clock_map.hpp"
#include "vulkan/device/timeline.hpp"

namespace weft::core {

class QueueClocks {
  public:
    explicit QueueClocks(Device& device, Timelines& timelines);
    ~QueueClocks();
    QueueClocks(const QueueClocks&) = delete;
    QueueClocks& operator=(const QueueClocks&) = delete;

    /// Whether a role's queue has timestamps that can be read.
    bool timed(QueueRole role) const;
    /// Calibrates every clock that has not been calibrated for a second. `may_probe`: may submit to a queue
    /// and wait for it, which must not happen between the bundles of a batch; if false, nothing is done
    /// without the extension. Errors: device_lost, driver.
    void refresh(bool may_probe);
    /// No errors: a queue that is not calibrated counts its ticks from now.
    std::int64_t host_ns(QueueRole role, std::uint64_t ticks, std::int64_t not_after_ns);
    /// One line for people.
    std::string describe();

  private:
    struct Clock;
    void load_extension();
    std::optional<ClockSample> device_sample();
    QueueProbe probe(Clock& clock);
    void make_objects(Clock& clock);
    void destroy() noexcept;

    Device& device_;
    Timelines& timelines_;
    PFN_vkGetCalibratedTimestampsEXT get_timestamps_ = nullptr;  // null: no extension
    std::mutex mutex_;
    std::vector<std::unique_ptr<Clock>> clocks_;  // one a physical queue with timestamps
    std::array<Clock*, kQueueRoles> by_role_{};
    std::int64_t refreshed_ns_ = 0;
};

}  // namespace weft::core
