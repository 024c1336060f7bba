// SPDX-License-Identifier: Apache-2.0
#include "measure/report_measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

namespace weft::tool {
namespace {

double seconds_of(const TimedWork& work, std::size_t calls) {
    const double begin = seconds_now();
    work(calls);
    return seconds_now() - begin;
}

}  // namespace

double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Statistics statistics(std::vector<double> values) {
    Statistics s;
    if (values.empty()) return s;
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t n = sorted.size();
    s.min = sorted.front();
    s.max = sorted.back();
    s.p95 = sorted[(95 * n + 99) / 100 - 1];
    s.median = n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
    s.mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / static_cast<double>(n);
    double squares = 0;
    for (const double v : sorted) squares += (v - s.mean) * (v - s.mean);
    if (n > 1) s.std = std::sqrt(squares / static_cast<double>(n - 1));
    s.all = std::move(values);
    return s;
}

std::size_t calls_of_sample(double call_s, double least_s, std::size_t most_calls) {
    if (most_calls <= 1 || call_s >= least_s) return 1;
    const double wanted = call_s > 0 ? std::ceil(least_s / call_s) : static_cast<double>(most_calls);
    return wanted >= static_cast<double>(most_calls) ? most_calls : static_cast<std::size_t>(wanted);
}

Timing measure(const Repeats& repeats, double least_s, std::size_t most_calls, const TimedWork& work) {
    double call_s = 0;
    double spent = 0;
    for (std::size_t i = 0; i < std::max<std::size_t>(repeats.warmup, 1); ++i) {
        if (i != 0 && spent > repeats.max_seconds / 4) break;
        call_s = seconds_of(work, 1);
        spent += call_s;
    }
    Timing timing;
    timing.calls = calls_of_sample(call_s, least_s, most_calls);
    if (timing.calls > 1) work(timing.calls);
    std::vector<double> values;
    spent = 0;
    for (std::size_t i = 0; i < repeats.repeats; ++i) {
        if (i >= kLeastRuns && spent > repeats.max_seconds) break;
        const double took = seconds_of(work, timing.calls);
        spent += took;
        values.push_back(took / static_cast<double>(timing.calls));
    }
    timing.seconds = statistics(std::move(values));
    return timing;
}

}  // namespace weft::tool
