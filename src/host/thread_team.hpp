// SPDX-License-Identifier: Apache-2.0
// Threads that are kept for many short pieces of work on the host.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "host/cpu_set.hpp"

namespace weft::kernels {

/// The caller's thread and up to `threads` - 1 others, which stay on `cpus` (NodeBinding). Used by one
/// thread.
class ThreadTeam {
  public:
    explicit ThreadTeam(std::uint32_t threads, core::CpuSet cpus = {}) : cpus_(std::move(cpus)) {
        try {
            for (std::uint32_t i = 1; i < threads; ++i) workers_.emplace_back([this] { serve(); });
        } catch (const std::system_error&) {
            // No more threads can be started; the others do the work.
        }
    }
    ~ThreadTeam() {
        stopping_ = true;
        round_.fetch_add(1);
        round_.notify_all();
    }
    ThreadTeam(const ThreadTeam&) = delete;
    ThreadTeam& operator=(const ThreadTeam&) = delete;

    /// Calls work(first, last) for consecutive parts of [0, count), `step` each but the last. Must not throw.
    void run(std::uint64_t count, std::uint64_t step,
             const std::function<void(std::uint64_t, std::uint64_t)>& work) {
        work_ = &work;
        count_ = count;
        step_ = std::max<std::uint64_t>(1, step);
        next_ = 0;
        busy_ = workers_.size();
        round_.fetch_add(1);
        round_.notify_all();
        take_parts();
        for (std::size_t busy = busy_; busy != 0; busy = busy_) busy_.wait(busy);
    }

  private:
    void take_parts() {
        for (std::uint64_t at = next_.fetch_add(step_); at < count_; at = next_.fetch_add(step_))
            (*work_)(at, std::min(count_, at + step_));
    }
    void serve() {
        const core::NodeBinding binding(cpus_);
        for (std::uint32_t seen = 0;;) {
            round_.wait(seen);
            ++seen;
            if (stopping_) return;
            take_parts();
            if (busy_.fetch_sub(1) == 1) busy_.notify_all();
        }
    }

    const core::CpuSet cpus_;
    const std::function<void(std::uint64_t, std::uint64_t)>* work_ = nullptr;
    std::uint64_t count_ = 0, step_ = 1;
    std::atomic<std::uint64_t> next_{0};
    std::atomic<std::size_t> busy_{0};
    std::atomic<std::uint32_t> round_{0};
    std::atomic<bool> stopping_{false};
    std::vector<std::jthread> workers_;  // last: they use the rest, and end first
};

}  // namespace weft::kernels
