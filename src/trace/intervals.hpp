// SPDX-License-Identifier: Apache-2.0
// Arithmetic on sets of half-open time intervals of any unit. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace weft::core {

struct Interval {
    double begin = 0, end = 0;
};

/// Length of the union. Intervals with end <= begin count as empty.
double union_length(std::span<const Interval> intervals);

/// Length of the time in which intervals of at least two different sets run. Overlap inside one set does not
/// count.
double overlap_length(std::span<const std::vector<Interval>> sets);

/// Length of the time in which both an interval of `a` and one of `b` run.
double intersection_length(std::span<const Interval> a, std::span<const Interval> b);

}  // namespace weft::core
