// SPDX-License-Identifier: Apache-2.0
// Clocks behind weft::StartupReport.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace weft::core {

using SteadyTime = std::chrono::steady_clock::time_point;

inline double seconds_between(SteadyTime begin, SteadyTime end) {
    return std::chrono::duration<double>(end - begin).count();
}
inline double seconds_since(SteadyTime begin) {
    return seconds_between(begin, std::chrono::steady_clock::now());
}

/// When in [tick_begin, tick_begin + tick), the tick that the kernel reports, a process started. If the
/// process did nothing but load until `loaded`, it started as long before as the processor time it has used.
/// Pure.
SteadyTime estimate_start(SteadyTime tick_begin, std::chrono::nanoseconds tick, SteadyTime loaded,
                          std::chrono::nanoseconds processor_time);

/// When this process started or, if the kernel does not report that, when weft was loaded.
SteadyTime process_start();

/// When the first work was handed to a queue, and when the host first saw work done. Thread-safe.
class FirstWork {
  public:
    void submitted() { note(submitted_); }
    void done() { note(done_); }
    /// Seconds from the first submission until the first work was seen done; 0: not yet.
    double took_s() const;
    /// Seconds from `start` until then; 0: not yet.
    double done_after_s(SteadyTime start) const;

  private:
    static void note(std::atomic<std::int64_t>& cell) {
        if (cell.load(std::memory_order_relaxed) != 0) return;
        std::int64_t never = 0;
        cell.compare_exchange_strong(never, std::chrono::steady_clock::now().time_since_epoch().count());
    }
    std::atomic<std::int64_t> submitted_{0}, done_{0};  // ticks of the steady clock
};

}  // namespace weft::core
