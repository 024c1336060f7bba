// SPDX-License-Identifier: Apache-2.0
// How one call on several devices is shared out: one queue of items, from which each device takes a share
// when it has finished the one before. Pure: times are arguments, so tests simulate devices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft::core {

/// What is known about a device before the call.
struct ShareDevice {
    std::string name;         // for reasons
    double prior = 1;         // expected speed, relative to the other devices
    double rate = 0;          // items a second in earlier calls; 0: unknown
    std::uint64_t least = 1;  // items below which a share is not worth its start
};

/// Items [first, first + count).
struct Share {
    std::uint64_t first = 0, count = 0;
    bool again = false;  // another device was lost while it worked on it
};

class ShareQueue {
  public:
    /// Shares begin at multiples of `step` items. `both_ends`: every second device takes its shares from the
    /// end, so that those of a device lie close together.
    ShareQueue(std::uint64_t items, std::uint64_t step, std::vector<ShareDevice> devices,
               bool both_ends = false);

    /// The device that does everything, if the call is too small to be shared.
    std::optional<std::size_t> only_device() const { return only_; }

    /// The next share of an idle device. Nothing: no items are left, or the others will have finished them
    /// before this device could. In the second case a later call may return a share, if a device is lost.
    std::optional<Share> take(std::size_t device, double now_s);
    /// The device has finished its share.
    void done(std::size_t device, double now_s);
    /// The device takes no further part. Its share goes back to the queue. `lost`: and may be why. false: the
    /// share had been given back by a device that was lost before, so that the work itself may be what
    /// devices fail on.
    bool drop(std::size_t device, bool lost = true);

    bool dropped(std::size_t device) const { return devices_[device].dropped; }
    /// All items are done.
    bool finished() const { return done_ == items_; }
    /// No device is left that could do the rest.
    bool stranded() const;
    /// Items a second that the device was seen to do, 0: it has not finished a share.
    double measured_rate(std::size_t device) const { return devices_[device].measured; }
    /// Why the device has no share, or takes no more; empty: it took part until the end.
    const std::string& reason(std::size_t device) const { return devices_[device].reason; }

  private:
    struct Device : ShareDevice {
        std::optional<Share> share;
        double began_s = 0;
        double measured = 0;
        bool dropped = false;
        std::string reason;
    };

    double rate_of(const Device& device) const;
    bool knows_rates() const;
    std::uint64_t unassigned() const;
    static bool was_measured(const Device& device) { return device.measured > 0 || device.rate > 0; }
    double others_finish_s(const Device& device, double now_s) const;
    double left_of(const Device& device, double now_s) const;
    std::uint64_t wanted(const Device& device, double now_s) const;
    std::uint64_t within_time(Device& device, std::uint64_t count, double now_s) const;
    Share cut(std::uint64_t count, bool from_end);
    void choose_only_device();

    std::uint64_t items_, step_, next_ = 0, end_, done_ = 0;  // [next_, end_) was never given out
    bool both_ends_;
    std::vector<Device> devices_;
    std::vector<Share> returned_;
    std::optional<std::size_t> only_;
};

}  // namespace weft::core
