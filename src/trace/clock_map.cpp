// SPDX-License-Identifier: Apache-2.0
#include "trace/clock_map.hpp"

#include <algorithm>
#include <cmath>

namespace weft::core {
namespace {

constexpr std::size_t kMostKnots = 64;
constexpr long double kSecond = 1e9L;
// Clocks drift by less than 100 ppm; each sample adds its own error.
constexpr long double kMostDrift = 5e-4L;
// A larger error is not drift.
constexpr long double kStep = 5e6L;

std::uint64_t mask_of(std::uint32_t bits) {
    return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

/// How far the second of two readings of a counter is ahead of the first; negative if it is behind.
std::int64_t signed_distance(std::uint64_t from, std::uint64_t to, std::uint32_t bits) {
    const std::uint64_t mask = mask_of(bits), d = (to - from) & mask;
    if (d <= mask / 2) return static_cast<std::int64_t>(d);
    return -static_cast<std::int64_t>((mask - d) + 1);
}

}  // namespace

ClockSample sample_of(const QueueProbe& probe) {
    const std::int64_t half = (probe.after_ns - probe.before_ns) / 2;
    return {probe.ticks, probe.before_ns + half, half};
}

QueueCalibration calibrate(const std::optional<ClockSample>& device, const QueueProbe& probe,
                           double period_ns, std::uint32_t valid_bits) {
    const ClockSample own = sample_of(probe);
    if (!device) return {own, false, 0};
    const long double distance =
        static_cast<long double>(period_ns) *
        static_cast<long double>(signed_distance(device->ticks, probe.ticks, valid_bits));
    const long double mapped = static_cast<long double>(device->host_ns) + distance;
    constexpr long double kRounding = 1000;
    const long double slack =
        static_cast<long double>(device->error_ns) + kRounding + std::fabs(distance) * kMostDrift;
    const bool inside = mapped >= static_cast<long double>(probe.before_ns) - slack &&
                        mapped <= static_cast<long double>(probe.after_ns) + slack;
    if (inside) return {*device, true, 0};
    return {own, false, std::llroundl(mapped) - own.host_ns};
}

ClockMap::ClockMap(double period_ns, std::uint32_t valid_bits)
    : period_(static_cast<long double>(period_ns)),
      bits_(std::clamp(valid_bits, 1u, 64u)),
      mask_(mask_of(bits_)) {}

std::int64_t ClockMap::near(std::uint64_t ticks, std::int64_t expected) const {
    return expected + signed_distance(first_ticks_ + static_cast<std::uint64_t>(expected), ticks, bits_);
}

/// The calibration may be off a little, so a little of the future counts as past.
std::int64_t ClockMap::not_after(std::uint64_t ticks, std::int64_t latest) const {
    if (bits_ >= 60) return near(ticks, latest);  // wraps once in decades
    const std::int64_t slack = std::int64_t{1} << (std::min(bits_, 40u) - std::min(bits_, 4u));
    const std::int64_t end = latest + slack;
    const std::uint64_t back = (first_ticks_ + static_cast<std::uint64_t>(end) - ticks) & mask_;
    return end - static_cast<std::int64_t>(back);
}

long double ClockMap::at(std::int64_t ticks) const {
    const auto after = std::upper_bound(knots_.begin(), knots_.end(), ticks,
                                        [](std::int64_t t, const Knot& knot) { return t < knot.ticks; });
    const Knot& knot = after == knots_.begin() ? knots_.front() : *std::prev(after);
    return knot.host_ns + static_cast<long double>(ticks - knot.ticks) * knot.ns_per_tick;
}

std::int64_t ClockMap::ticks_at(long double host_ns) const {
    const auto after = std::upper_bound(knots_.begin(), knots_.end(), host_ns,
                                        [](long double t, const Knot& knot) { return t < knot.host_ns; });
    const Knot& knot = after == knots_.begin() ? knots_.front() : *std::prev(after);
    return knot.ticks + std::llroundl((host_ns - knot.host_ns) / knot.ns_per_tick);
}

/// Measured from the first sample on: the longer the time, the less the errors of two samples matter.
long double ClockMap::measured_rate(std::int64_t ticks, const ClockSample& sample) const {
    const auto passed = static_cast<long double>(ticks - base_ticks_);
    if (passed * period_ < kSecond / 100) return knots_.back().ns_per_tick;
    const long double rate = static_cast<long double>(sample.host_ns - base_ns_) / passed;
    return std::clamp(rate, period_ * (1 - kMostDrift), period_ * (1 + kMostDrift));
}

void ClockMap::add(const ClockSample& sample) {
    const auto host = static_cast<long double>(sample.host_ns);
    if (knots_.empty()) {
        first_ticks_ = sample.ticks & mask_;
        base_ns_ = sample.host_ns;
        knots_.push_back({0, host, period_});
        return;
    }
    const std::int64_t ticks = near(sample.ticks, ticks_at(host));
    const long double here = at(ticks), error = host - here;
    const long double rate = measured_rate(ticks, sample);
    while (knots_.size() > 1 && knots_.back().ticks >= ticks) knots_.pop_back();
    if (knots_.back().ticks >= ticks) return;  // older than every knot
    if (std::fabs(error) > kStep + static_cast<long double>(sample.error_ns)) {
        base_ticks_ = ticks;
        base_ns_ = sample.host_ns;
        knots_.push_back({ticks, host, period_});
    } else {
        const long double span = kSecond / rate;
        const long double correction = std::clamp(error / span, -rate / 100, rate / 100);
        knots_.push_back({ticks, here, rate + correction});
        const long double steps = std::floor(span);
        knots_.push_back(
            {ticks + static_cast<std::int64_t>(steps), here + steps * (rate + correction), rate});
    }
    while (knots_.size() > kMostKnots) knots_.pop_front();
}

std::int64_t ClockMap::host_ns(std::uint64_t ticks, std::int64_t not_after_ns) const {
    return std::llroundl(at(not_after(ticks, ticks_at(static_cast<long double>(not_after_ns)))));
}

}  // namespace weft::core
