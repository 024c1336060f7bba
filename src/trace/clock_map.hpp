// SPDX-License-Identifier: Apache-2.0
// From ticks of a queue's timestamp counter to nanoseconds of CLOCK_MONOTONIC. Pure.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

namespace weft::core {

/// The counter read `ticks` when the host's clock read `host_ns`, within `error_ns`.
struct ClockSample {
    std::uint64_t ticks = 0;
    std::int64_t host_ns = 0;
    std::int64_t error_ns = 0;
};

/// A timestamp that a queue took between two readings of the host's clock.
struct QueueProbe {
    std::uint64_t ticks = 0;
    std::int64_t before_ns = 0, after_ns = 0;
};

ClockSample sample_of(const QueueProbe& probe);

/// The sample that calibrates a queue.
struct QueueCalibration {
    ClockSample sample;
    /// The device-wide calibration holds for this queue. Otherwise the queue has a clock of its own, or the
    /// driver's calibration is off by a constant (11.85 s on some AMD APUs), and the probe counts.
    bool shares_device_clock = false;
    std::int64_t offset_ns = 0;  // how far the device-wide calibration is off
};

/// `device`: of the calibrated-timestamps extension, for the whole device; empty: the device lacks it.
QueueCalibration calibrate(const std::optional<ClockSample>& device, const QueueProbe& probe,
                           double period_ns, std::uint32_t valid_bits);

/// Continuous and rising from calibration to calibration, so that events in order stay in order: a small
/// error is worked off within a second, a large one (a suspended machine) is a step. The rate is the measured
/// one: the period a driver reports is a rounded float, off by milliseconds a day.
class ClockMap {
  public:
    /// valid_bits: 1..64.
    ClockMap(double period_ns, std::uint32_t valid_bits);

    void add(const ClockSample& sample);
    bool calibrated() const { return !knots_.empty(); }

    /// The latest host time, not after `not_after_ns`, at which the counter can have had this value. So a
    /// counter may wrap any number of times within a run, but only once between a timestamp and its reading.
    std::int64_t host_ns(std::uint64_t ticks, std::int64_t not_after_ns) const;

  private:
    /// The rate from this point on. Ticks are unwrapped and counted from the first sample.
    struct Knot {
        std::int64_t ticks;
        long double host_ns;
        long double ns_per_tick;
    };
    std::int64_t near(std::uint64_t ticks, std::int64_t expected) const;
    std::int64_t not_after(std::uint64_t ticks, std::int64_t latest) const;
    long double at(std::int64_t ticks) const;
    std::int64_t ticks_at(long double host_ns) const;
    long double measured_rate(std::int64_t ticks, const ClockSample& sample) const;

    long double period_;
    std::uint32_t bits_;
    std::uint64_t mask_;
    std::uint64_t first_ticks_ = 0;
    std::int64_t base_ticks_ = 0, base_ns_ = 0;  // the sample that rates are measured from
    std::deque<Knot> knots_;                     // ascending; the last ones may lie in the future
};

}  // namespace weft::core
