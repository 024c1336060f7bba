// SPDX-License-Identifier: Apache-2.0
// Times of repeated work, and their statistics.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace weft::tool {

struct Statistics {
    double median = 0, mean = 0, std = 0, min = 0, max = 0;  ///< std: of a sample, n - 1; 0 for one value
    double p95 = 0;                                          ///< the slow end: 95 % take no longer
    std::vector<double> all;                                 ///< in the order of measurement
};

/// The median of an even number of values is the mean of the middle two. No values: all 0.
Statistics statistics(std::vector<double> values);

inline constexpr std::size_t kLeastRuns = 3;

struct Repeats {
    std::size_t repeats = 20, warmup = 3;
    double max_seconds = 5;  ///< of one figure: fewer runs if they take longer, but at least kLeastRuns
};

/// Runs its work as many times as its argument says, one after the other, and returns when all are done.
using TimedWork = std::function<void(std::size_t calls)>;

struct Timing {
    Statistics seconds;     ///< of one call
    std::size_t calls = 1;  ///< in each value: several if one call is too short for the clock
};

/// Reads a monotonic clock.
double seconds_now();

/// The number of calls of `call_s` seconds in a sample of at least `least_s`, at most `most_calls`.
std::size_t calls_of_sample(double call_s, double least_s, std::size_t most_calls);

/// Runs `work` for the warm-up (at least one time, to measure how long it takes), then for the repeats.
Timing measure(const Repeats& repeats, double least_s, std::size_t most_calls, const TimedWork& work);

}  // namespace weft::tool
