// SPDX-License-Identifier: Apache-2.0
// Threads that share the staging copies of a batch with the thread that called it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "base/log.hpp"
#include "host/cpu_set.hpp"
#include "trace/trace_recorder.hpp"

namespace weft::core {

struct HostCopy {
    void* target = nullptr;
    const void* source = nullptr;
    std::size_t bytes = 0;
};

/// Describes a copy to a listener: the event without thread, times and bytes.
struct CopyLabel {
    TraceRecorder* recorder = nullptr;  // null: no listener
    StageEvent event;
};

/// Thread-safe: copies of several callers queue up behind each other's parts.
class CopyWorkers {
  public:
    /// `threads` includes the caller, so one thread means no worker; at most kMostThreads. Workers start with
    /// the first copy that needs them, and stay on `cpus` (NodeBinding); a refusal goes to `log`, if there is
    /// one, at level debug.
    explicit CopyWorkers(std::uint32_t threads, CpuSet cpus = {}, const Log* log = nullptr);
    ~CopyWorkers();
    CopyWorkers(const CopyWorkers&) = delete;
    CopyWorkers& operator=(const CopyWorkers&) = delete;

    /// Performs all copies and returns when they are complete and visible.
    void copy(std::span<const HostCopy> copies, const CopyLabel& label = {});

    static constexpr std::uint32_t kMostThreads = 256;

  private:
    struct Work;
    void run();
    void start();
    void share(Work& work);
    static void take_parts(Work& work, std::size_t thread);

    const std::uint32_t threads_;
    const CpuSet cpus_;
    const Log* const log_;
    const bool spin_;
    std::mutex mutex_;
    std::condition_variable wake_, left_;
    std::vector<Work*> open_;                 // guarded by mutex_; each lives on its caller's stack
    std::atomic<std::size_t> open_count_{0};  // open_.size(), to be read without the lock
    std::atomic<bool> stop_{false};           // written under mutex_
    std::vector<std::thread> workers_;
};

}  // namespace weft::core
