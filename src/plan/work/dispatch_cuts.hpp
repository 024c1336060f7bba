// SPDX-License-Identifier: Apache-2.0
// How a long dispatch is cut, so that no part of it keeps the device longer than Config::dispatch_ms. Pure.
//
// Drivers reset a device whose work does not end in time (amdgpu after 2 s), and a display that shares the
// device stands still meanwhile. How long a dispatch takes is estimated from its work: the bytes that it
// binds, or what ProgramOptions::operations_per_element says. The pace of a program, seconds for each unit of
// work, is measured on its first long dispatch. Until then a pace is assumed that is slow for the device.
#pragma once

#include <cstdint>

#include "plan/device/device_snapshot.hpp"
#include "plan/work/dispatch_plan.hpp"

namespace weft::core {

/// What a device may do in one dispatch.
struct DispatchBudget {
    double seconds = 0.25;
    double assumed_pace = 0;  // seconds for each unit of work of a program that was not measured yet
};
DispatchBudget dispatch_budget(const DeviceSnapshot& device, std::uint32_t dispatch_ms);

/// What is known of one program.
struct DispatchPace {
    double seconds = 0;  // for each unit of work; 0: nothing is known
    double sample = 0;   // the work that it was measured on; 0: it was not measured, only found to be slow
    std::uint32_t samples = 0;
    bool operator==(const DispatchPace&) const = default;
};

/// Work of a dispatch. `operations` is that of one element, 0 if unknown; then the bytes that are bound
/// count.
double dispatch_work(double operations, std::uint64_t elements, std::uint64_t bound_bytes);

double expected_seconds(double work, const DispatchPace& pace, const DispatchBudget& budget);

/// Workgroups of the next part: as many of `left` as fit the budget, at least one.
std::uint64_t workgroups_within(std::uint64_t left, double work_of_each, const DispatchPace& pace,
                                const DispatchBudget& budget);

/// Elements of a job that fit the budget, at least one and rounded down to a power of two; all of them as
/// long as nothing is known of the program.
std::uint64_t elements_within(std::uint64_t elements, double work_of_each, const DispatchPace& pace,
                              const DispatchBudget& budget);

/// Whether a part of this much work is to be measured: fewer than three were, because a driver may compile
/// the shader on its first use, or only far smaller parts, whose workgroups may not have filled the device.
bool worth_measuring(double work, const DispatchPace& pace);
/// The pace after work took `seconds`, its submission and the wait for it included. Of samples of about the
/// same size the fastest counts, and small samples can only show that a program is faster.
DispatchPace measured_pace(const DispatchPace& pace, double work, double seconds);
/// Whether a wait says that what was waited for took longer than the budget. A busy host wakes late, so a
/// wait must be far longer.
bool is_long_wait(double seconds, const DispatchBudget& budget);
/// The pace after `work` kept the host waiting for `seconds`, a long wait.
DispatchPace slower_pace(const DispatchPace& pace, double work, double seconds);
/// The pace after all of `work` took at most `seconds`: corrects what slower_pace() took for slow.
DispatchPace faster_pace(const DispatchPace& pace, double work, double seconds);

/// Workgroups of a grid that form a rectangle: whole rows, or a part of one row.
struct WorkgroupPart {
    std::uint32_t x = 0, y = 0;           // of the first workgroup
    std::uint32_t columns = 0, rows = 0;  // numbers
    std::uint64_t count() const { return std::uint64_t{columns} * rows; }
    bool operator==(const WorkgroupPart&) const = default;
};
/// The part that begins at workgroup `first`, counted row by row, and has at most `most` of them.
WorkgroupPart part_at(const WorkgroupGrid& grid, std::uint64_t first, std::uint64_t most);

}  // namespace weft::core
