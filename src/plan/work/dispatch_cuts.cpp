// SPDX-License-Identifier: Apache-2.0
#include "plan/work/dispatch_cuts.hpp"

#include <algorithm>
#include <bit>

namespace weft::core {
namespace {

/// A device that reads and writes a byte could do about this many operations in the same time.
constexpr double kOperationsOfByte = 128;
/// Submitting one part and waiting for it, which is no time of the device.
constexpr double kOverheadSeconds = 50e-6;
/// A measured part may be this much smaller than the next one.
constexpr double kGrowth = 4;

/// Bytes a second, a hundredth of what the slowest devices of a kind move: a program that does 100 times as
/// much with its bytes as a copy still fits.
double assumed_bytes_per_second(DeviceType type) {
    switch (type) {
        case DeviceType::discrete:
            return 2e9;
        case DeviceType::cpu:
            return 5e7;
        default:
            return 2e8;
    }
}

/// Rounds down; at least 1 and at most `left`.
std::uint64_t units_within(std::uint64_t left, double of_each, double seconds_of_work, double budget) {
    const double each = of_each * seconds_of_work;
    if (each * static_cast<double>(left) <= budget) return left;
    return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(budget / each), 1, left);
}

}  // namespace

DispatchBudget dispatch_budget(const DeviceSnapshot& device, std::uint32_t dispatch_ms) {
    return {1e-3 * dispatch_ms, 1 / assumed_bytes_per_second(device.type)};
}

double dispatch_work(double operations, std::uint64_t elements, std::uint64_t bound_bytes) {
    return operations > 0 ? static_cast<double>(elements) * operations / kOperationsOfByte
                          : static_cast<double>(bound_bytes);
}

double expected_seconds(double work, const DispatchPace& pace, const DispatchBudget& budget) {
    return work * (pace.seconds > 0 ? pace.seconds : budget.assumed_pace);
}

std::uint64_t workgroups_within(std::uint64_t left, double work_of_each, const DispatchPace& pace,
                                const DispatchBudget& budget) {
    return units_within(left, work_of_each, pace.seconds > 0 ? pace.seconds : budget.assumed_pace,
                        budget.seconds);
}

std::uint64_t elements_within(std::uint64_t elements, double work_of_each, const DispatchPace& pace,
                              const DispatchBudget& budget) {
    if (pace.seconds <= 0) return elements;
    const std::uint64_t most = units_within(elements, work_of_each, pace.seconds, budget.seconds);
    // A power of two, so that a pace that varies a little does not change the chunks each time.
    return most == elements ? elements : std::bit_floor(most);
}

bool worth_measuring(double work, const DispatchPace& pace) {
    constexpr std::uint32_t kSamples = 3;
    return pace.samples < kSamples || work > kGrowth * pace.sample;
}

DispatchPace measured_pace(const DispatchPace& pace, double work, double seconds) {
    // Of a short part at most half is overhead, so that a part that the overhead hides does not look free.
    const double found = std::max({seconds - kOverheadSeconds, seconds / 2, 1e-9}) / std::max(work, 1.0);
    if (pace.samples == 0 || work > kGrowth * pace.sample) return {found, work, 1};
    if (work * kGrowth < pace.sample && found >= pace.seconds) return pace;
    return {std::min(found, pace.seconds), std::max(work, pace.sample), pace.samples + 1};
}

bool is_long_wait(double seconds, const DispatchBudget& budget) {
    constexpr double kFarLonger = 4;
    return seconds > kFarLonger * budget.seconds;
}

DispatchPace slower_pace(const DispatchPace& pace, double work, double seconds) {
    const double found = seconds / std::max(work, 1.0);
    return found > pace.seconds ? DispatchPace{found, 0, 0} : pace;
}

DispatchPace faster_pace(const DispatchPace& pace, double work, double seconds) {
    if (pace.seconds <= 0 || pace.sample > 0 || work <= 0) return pace;
    return {std::min(pace.seconds, std::max(seconds, 1e-9) / work), 0, 0};
}

WorkgroupPart part_at(const WorkgroupGrid& grid, std::uint64_t first, std::uint64_t most) {
    WorkgroupPart part;
    part.x = static_cast<std::uint32_t>(first % grid.x);
    part.y = static_cast<std::uint32_t>(first / grid.x);
    if (part.x == 0 && most >= grid.x) {
        part.columns = grid.x;
        part.rows = static_cast<std::uint32_t>(std::min<std::uint64_t>(most / grid.x, grid.y - part.y));
    } else {
        part.columns = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(std::max<std::uint64_t>(most, 1), grid.x - part.x));
        part.rows = 1;
    }
    return part;
}

}  // namespace weft::core
