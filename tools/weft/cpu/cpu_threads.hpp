// SPDX-License-Identifier: Apache-2.0
// Work over all threads of the processor: what the baselines of the reports run on.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace weft::tool {

/// Threads that this process may use at once.
unsigned cpu_threads();
/// "AMD EPYC ..."; "unknown" where the system does not tell.
const char* cpu_name();

/// Threads that wait for work between calls, since starting one costs more than a small batch. Made when a
/// call first wants them, joined by the destructor. One call at a time; a second waits.
class CpuThreads {
  public:
    CpuThreads() = default;
    ~CpuThreads();
    CpuThreads(const CpuThreads&) = delete;
    CpuThreads& operator=(const CpuThreads&) = delete;

    /// Calls `work(0)` to `work(parts - 1)`, on as many threads, the caller's included. What one throws is
    /// thrown when all have ended.
    void run(std::size_t parts, const std::function<void(std::size_t part)>& work);

  private:
    void serve();
    bool take(std::unique_lock<std::mutex>& lock);

    std::mutex calls_;  // held for a whole call
    std::mutex mutex_;  // what follows
    std::condition_variable wake_, done_;
    const std::function<void(std::size_t)>* work_ = nullptr;
    std::size_t parts_ = 0, next_ = 0, left_ = 0;
    std::exception_ptr failure_;
    bool ending_ = false;
    std::vector<std::thread> threads_;
};

/// Calls `body(first, last)` for parts of [0, count) that together are all of it, on at most `threads`
/// threads of the process's own CpuThreads, the caller's included; a part has `grain` elements at least,
/// because a thread costs as much as waking it.
void parallel_for(std::size_t count, std::size_t grain, unsigned threads,
                  const std::function<void(std::size_t first, std::size_t last)>& body);

}  // namespace weft::tool
