// SPDX-License-Identifier: Apache-2.0
#include "trace/intervals.hpp"

#include <algorithm>
#include <utility>

namespace weft::core {

namespace {

/// Disjoint, ascending intervals that cover the same time.
std::vector<Interval> merged(std::span<const Interval> intervals) {
    std::vector<Interval> sorted;
    std::copy_if(intervals.begin(), intervals.end(), std::back_inserter(sorted),
                 [](const Interval& interval) { return interval.end > interval.begin; });
    std::sort(sorted.begin(), sorted.end(),
              [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
    std::vector<Interval> result;
    for (const Interval& interval : sorted) {
        if (!result.empty() && interval.begin <= result.back().end)
            result.back().end = std::max(result.back().end, interval.end);
        else
            result.push_back(interval);
    }
    return result;
}

}  // namespace

double union_length(std::span<const Interval> intervals) {
    double total = 0;
    for (const Interval& interval : merged(intervals)) total += interval.end - interval.begin;
    return total;
}

double overlap_length(std::span<const std::vector<Interval>> sets) {
    std::vector<std::pair<double, int>> edges;  // at equal times ends (-1) sort before begins
    for (const std::vector<Interval>& set : sets) {
        for (const Interval& interval : merged(set)) {
            edges.emplace_back(interval.begin, +1);
            edges.emplace_back(interval.end, -1);
        }
    }
    std::sort(edges.begin(), edges.end());
    double total = 0, previous = 0;
    int running = 0;
    for (const auto& [time, change] : edges) {
        if (running >= 2) total += time - previous;
        running += change;
        previous = time;
    }
    return total;
}

double intersection_length(std::span<const Interval> a, std::span<const Interval> b) {
    const std::vector<Interval> left = merged(a), right = merged(b);
    double total = 0;
    for (std::size_t i = 0, k = 0; i < left.size() && k < right.size();) {
        total += std::max(0.0, std::min(left[i].end, right[k].end) - std::max(left[i].begin, right[k].begin));
        if (left[i].end < right[k].end)
            ++i;
        else
            ++k;
    }
    return total;
}

}  // namespace weft::core
