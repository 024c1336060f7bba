// SPDX-License-Identifier: Apache-2.0
// Arithmetic on sets of time intervals, half open, in seconds. Pure.
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

/// Ticks of a timestamp counter of `valid_bits` bits (1..64) from `begin` to `end`, wrap handled.
std::uint64_t tick_distance(std::uint64_t begin, std::uint64_t end, std::uint32_t valid_bits);

}  // namespace weft::core
