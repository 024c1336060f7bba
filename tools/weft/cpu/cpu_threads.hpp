// SPDX-License-Identifier: Apache-2.0
// Work on all threads of the processor; the baselines of the reports run on it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace weft::tool {

/// Threads that this process may run simultaneously.
unsigned cpu_threads();
/// "AMD EPYC ..."; "unknown" if the system does not report it.
const char* cpu_name();

/// Threads that wait for work between calls, because starting a thread costs more than a small batch. The
/// first call that needs them starts them, and the destructor joins them. One call at a time; a second one
/// waits.
class CpuThreads {
  public:
    CpuThreads() = default;
    ~CpuThreads();
    CpuThreads(const CpuThreads&) = delete;
    CpuThreads& operator=(const CpuThreads&) = delete;

    /// Calls `work(0)` to `work(parts - 1)`, on as many threads, the caller's included. An exception of a
    /// part is thrown when all have ended.
    void run(std::size_t parts, const std::function<void(std::size_t part)>& work);

  private:
    void serve();
    bool take(std::unique_lock<std::mutex>& lock);

    std::mutex calls_;  // held for a whole call
    std::mutex mutex_;  // guards the members below
    std::condition_variable wake_, done_;
    const std::function<void(std::size_t)>* work_ = nullptr;
    std::size_t parts_ = 0, next_ = 0, left_ = 0;
    std::exception_ptr failure_;
    bool ending_ = false;
    std::vector<std::thread> threads_;
};

/// Calls `body(first, last)` for ranges that together cover [0, count), on at most `threads` threads of the
/// process's own CpuThreads, the caller's included. A range has at least `grain` elements, because waking a
/// thread has a cost.
void parallel_for(std::size_t count, std::size_t grain, unsigned threads,
                  const std::function<void(std::size_t first, std::size_t last)>& body);

}  // namespace weft::tool
