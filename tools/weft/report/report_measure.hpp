// SPDX-License-Identifier: Apache-2.0
// Times of repeated work, and what they amount to.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace weft::tool {

struct Statistics {
    double median = 0, mean = 0, std = 0, min = 0, max = 0;  ///< std: of a sample, n - 1; 0 for one value
    double p95 = 0;                                          ///< the slow tail: 95 % take no longer
    std::vector<double> all;                                 ///< in the order they were measured
};

/// The median of an even number of values is the mean of the middle two. No values: all 0.
Statistics statistics(std::vector<double> values);

inline constexpr std::size_t kLeastRuns = 3;

struct Repeats {
    std::size_t repeats = 20, warmup = 3;
    double max_seconds = 5;  ///< of one figure: fewer runs where they take longer, but kLeastRuns at least
};

/// Runs its work as many times as it is told, one after the other, and returns when all are done.
using TimedWork = std::function<void(std::size_t calls)>;

struct Timing {
    Statistics seconds;     ///< of one call
    std::size_t calls = 1;  ///< behind each value: several where one is too short for the clock
};

/// Of a clock that only goes forward.
double seconds_now();

/// How many calls of `call_s` seconds make a sample of at least `least_s`, at most `most_calls`.
std::size_t calls_of_sample(double call_s, double least_s, std::size_t most_calls);

/// Runs `work` for the warm-up (once at the least, to learn how long it takes), then for the repeats.
Timing measure(const Repeats& repeats, double least_s, std::size_t most_calls, const TimedWork& work);

}  // namespace weft::tool
