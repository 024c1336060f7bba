// SPDX-License-Identifier: Apache-2.0
// The object behind a JobPipeline: an inbox in front of a BatchEngine, which a thread of its own drives.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include <weft/batch.hpp>

#include "base/span_set.hpp"
#include "vulkan/engine/batch_engine.hpp"

namespace weft {

struct JobPipeline::Impl final : core::JobListener {
    struct Entry {
        Job job;
        JobState state = JobState::queued;
        std::vector<core::JobSpan> spans;
        std::exception_ptr error;  // of a job that failed
        bool reported = false;     // a wait has thrown it, or the caller called cancel()
    };

    Impl(Backend& backend, const Program& program, const BatchOptions& options);
    ~Impl() override;

    void run();
    bool step();
    void feed();
    void await_oldest();
    void fail(const std::exception_ptr& error) noexcept;
    void fail_one(const std::exception_ptr& error);
    void fail_all(const std::exception_ptr& error) noexcept;
    void end(std::uint64_t id, JobState state, const std::exception_ptr& error) noexcept;
    void cancel_queued() noexcept;
    [[noreturn]] void throw_failure(const char* function, std::uint64_t id, Entry& failure);
    void publish() noexcept;
    void admit(std::uint64_t id, Entry entry);
    void notify();
    void on_job_done(std::uint64_t sequence) override;
    std::uint64_t known(JobToken token) const;
    bool on_own_thread() const noexcept { return thread_id == std::this_thread::get_id(); }
    void require_other_thread(const char* what) const;
    void detach() noexcept;
    void require_own_process(const char* what) const {
        backend_state->context()->device.require_own_process(what);
    }

    std::shared_ptr<core::BackendState> backend_state;
    std::shared_ptr<const core::ProgramObject> program;
    core::BatchSettings settings;
    std::unique_ptr<core::BatchEngine> engine;     // touched by the thread alone after construction
    std::map<std::uint64_t, std::uint64_t> id_of;  // engine sequence -> token; the thread's own
    std::vector<std::uint64_t> finished;           // done but not yet published; the thread's own
    bool starting = false;                         // inside engine->start(); the thread's own
    ProgressCallback progress;
    const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
    std::uint64_t notified = 0;  // jobs that were reported to `progress`; the thread's own

    mutable std::mutex mutex;  // guards everything below
    std::condition_variable inbox, over;
    std::map<std::uint64_t, Entry> entries;                    // queued and running
    const std::uint64_t first_id;                              // tokens of different pipelines never meet
    std::uint64_t next_id = first_id, next_queued = first_id;  // first id not yet handed to the engine
    std::map<std::uint64_t, Entry> failures;  // failed or cancelled, kept for state(): nodes of `entries`
    core::SpanSet memory;
    std::exception_ptr fatal;  // the device is gone
    BatchReport report;
    bool stop = false;       // the destructor runs
    bool cancelled = false;  // BatchOptions::cancel was stopped

    std::thread thread;
    std::thread::id thread_id;  // stays when the thread is detached
    struct CancelQueued {
        Impl* impl;
        void operator()() const noexcept { impl->cancel_queued(); }
    };
    std::optional<std::stop_callback<CancelQueued>> on_stop;
};

}  // namespace weft
