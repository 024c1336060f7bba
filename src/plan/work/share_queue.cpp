// SPDX-License-Identifier: Apache-2.0
#include "plan/work/share_queue.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace weft::core {
namespace {

// Part of a device's equal part of what is left that it takes next. Each share costs the time in which its
// pipeline fills and empties, so shares are large while rates are trusted.
constexpr double kTrustedPart = 0.7, kLaterPart = 0.5;
// A share must end within this part of the time that the other devices need for everything. A rate that is
// only expected may be ten times too high.
constexpr double kTailMargin = 0.8, kUnknownMargin = 0.08;
// Devices this close to the fastest count as equally fast: measured rates of equal devices differ too, and
// the fastest of them should not do all of the last shares.
constexpr double kAlike = 0.9;
// What a slower device would add, the others lose to its use of the host.
constexpr double kLeastContribution = 0.03;
constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

ShareQueue::ShareQueue(std::uint64_t items, std::uint64_t step, std::vector<ShareDevice> devices,
                       bool both_ends)
    : items_(items), step_(std::max<std::uint64_t>(1, step)), end_(items), both_ends_(both_ends) {
    for (ShareDevice& device : devices) {
        devices_.push_back({});
        static_cast<ShareDevice&>(devices_.back()) = std::move(device);
        devices_.back().least = std::max(step_, devices_.back().least);
    }
    choose_only_device();
}

void ShareQueue::choose_only_device() {
    if (devices_.empty()) return;
    const auto best =
        std::max_element(devices_.begin(), devices_.end(),
                         [&](const Device& a, const Device& b) { return rate_of(a) < rate_of(b); });
    if (items_ >= 2 * best->least && devices_.size() > 1) return;
    only_ = static_cast<std::size_t>(best - devices_.begin());
    if (devices_.size() > 1)
        for (Device& device : devices_)
            if (&device != &*best) device.reason = "too little work to share";
}

/// Items a second: as measured, else as in earlier calls, else in proportion to what is known of the others.
/// If nothing is known, the unit is arbitrary.
double ShareQueue::rate_of(const Device& device) const {
    const auto known = [](const Device& d) { return d.measured > 0 ? d.measured : d.rate; };
    if (known(device) > 0) return known(device);
    double rates = 0, priors = 0;
    for (const Device& other : devices_)
        if (known(other) > 0) {
            rates += known(other);
            priors += other.prior;
        }
    return priors > 0 ? device.prior * rates / priors : device.prior;
}

/// Rates are trusted if every device was measured, or if all are alike.
bool ShareQueue::knows_rates() const {
    const Device* first = nullptr;
    bool alike = true, measured = true;
    for (const Device& device : devices_) {
        if (device.dropped) continue;
        if (first == nullptr) first = &device;
        alike = alike && device.name == first->name && device.prior == first->prior;
        measured = measured && was_measured(device);
    }
    return alike || measured;
}

std::uint64_t ShareQueue::unassigned() const {
    return std::accumulate(returned_.begin(), returned_.end(), end_ - next_,
                           [](std::uint64_t sum, const Share& share) { return sum + share.count; });
}

/// Items of its share that a device has probably not done yet.
double ShareQueue::left_of(const Device& device, double now_s) const {
    return std::max(0.0,
                    static_cast<double>(device.share->count) - rate_of(device) * (now_s - device.began_s));
}

/// Seconds until the other devices would have finished everything without this one. The last items are done
/// by one device, because they are not worth more than one share.
double ShareQueue::others_finish_s(const Device& device, double now_s) const {
    const auto last = static_cast<double>(std::min(device.least, unassigned()));
    double items = static_cast<double>(unassigned()), rates = 0, last_s = kNever;
    for (const Device& other : devices_) {
        if (&other == &device || other.dropped) continue;
        const double rate = rate_of(other);
        const double busy = other.share ? left_of(other, now_s) : 0;
        rates += rate;
        items += busy;
        last_s = std::min(last_s, (busy + last) / rate);
    }
    return rates > 0 ? std::max(items / rates, last_s) : kNever;
}

/// A part of the device's fair part of everything that is not done, what others work on included.
std::uint64_t ShareQueue::wanted(const Device& device, double now_s) const {
    if (!knows_rates() && !was_measured(device)) return device.least;  // which measures it
    double rates = 0, items = static_cast<double>(unassigned());
    for (const Device& other : devices_) {
        if (other.dropped) continue;
        rates += rate_of(other);
        if (other.share) items += left_of(other, now_s);
    }
    const double part = knows_rates() ? kTrustedPart : kLaterPart;
    return std::max(device.least, static_cast<std::uint64_t>(items * rate_of(device) / rates * part));
}

std::optional<Share> ShareQueue::take(std::size_t index, double now_s) {
    Device& device = devices_[index];
    if (unassigned() == 0 || device.dropped || (only_ && *only_ != index)) return std::nullopt;
    const std::uint64_t count = only_ ? items_ : within_time(device, wanted(device, now_s), now_s);
    if (count == 0) return std::nullopt;
    device.reason.clear();
    device.began_s = now_s;
    device.share = cut(count, both_ends_ && index % 2 == 1);
    return device.share;
}

/// As many of `count` items as the device can finish before the others have finished everything; 0: too few.
/// The fastest device, and those that are nearly as fast, may always take a share.
std::uint64_t ShareQueue::within_time(Device& device, std::uint64_t count, double now_s) const {
    double others = 0, fastest = 0;
    for (const Device& other : devices_) {
        if (&other == &device || other.dropped) continue;
        others += rate_of(other);
        fastest = std::max(fastest, rate_of(other));
    }
    if (others == 0) return unassigned();
    if (rate_of(device) >= kAlike * fastest) return count;
    if (rate_of(device) < kLeastContribution * others) {
        device.reason = "too slow beside the other devices to save time";
        return 0;
    }
    const double margin = knows_rates() || was_measured(device) ? kTailMargin : kUnknownMargin;
    const double most = rate_of(device) * others_finish_s(device, now_s) * margin;
    const std::uint64_t least = std::min(device.least, unassigned());
    if (static_cast<double>(least) > most) {
        device.reason = "the other devices finish what is left sooner";
        return 0;
    }
    return std::max(least, static_cast<std::uint64_t>(std::min(most, static_cast<double>(count))));
}

/// Cuts `count` items, rounded to whole steps, from what was given back, else from the rest. Never leaves
/// less than half of that behind.
Share ShareQueue::cut(std::uint64_t count, bool from_end) {
    const bool back = !returned_.empty();
    const Share from = back ? returned_.back() : Share{next_, end_ - next_};
    count = std::max(step_, (count + step_ / 2) / step_ * step_);
    if (count >= from.count || from.count - count < count / 2) count = from.count;
    if (!back && from_end) {
        const std::uint64_t first = std::max(next_, (end_ - count) / step_ * step_);
        return {first, std::exchange(end_, first) - first};
    }
    const Share share{from.first, count, from.again};
    if (!back) {
        next_ += count;
    } else if (count == from.count) {
        returned_.pop_back();
    } else {
        returned_.back() = {from.first + count, from.count - count, from.again};
    }
    return share;
}

void ShareQueue::done(std::size_t index, double now_s) {
    Device& device = devices_[index];
    done_ += device.share->count;
    if (const double took = now_s - device.began_s; took > 0) {
        const double rate = static_cast<double>(device.share->count) / took;
        device.measured = device.measured > 0 ? (device.measured + rate) / 2 : rate;
    }
    device.share.reset();
}

bool ShareQueue::drop(std::size_t index, bool lost) {
    Device& device = devices_[index];
    device.dropped = true;
    // Another device must be able to take over from one that had everything.
    if (only_ == index) {
        only_.reset();
        for (Device& other : devices_) other.reason.clear();
    }
    if (!device.share) return true;
    Share share = *std::exchange(device.share, std::nullopt);
    const bool first_time = !lost || !share.again;
    share.again = share.again || lost;
    returned_.push_back(share);
    return first_time;
}

bool ShareQueue::stranded() const {
    return !finished() &&
           std::all_of(devices_.begin(), devices_.end(), [](const Device& device) { return device.dropped; });
}

}  // namespace weft::core
