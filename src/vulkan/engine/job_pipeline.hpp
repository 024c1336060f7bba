// SPDX-License-Identifier: Apache-2.0
// The object behind a JobPipeline: an inbox in front of a BatchEngine for each device, which a thread of its
// own drives.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/batch.hpp>

#include "base/span_set.hpp"
#include "vulkan/engine/batch_engine.hpp"

namespace weft {

struct JobPipeline::Impl {
    struct Entry {
        Job job;
        JobState state = JobState::queued;
        std::vector<core::JobSpan> spans;
        std::exception_ptr error;  // of a job that failed
        bool reported = false;     // a wait has thrown it, or the caller called cancel()
        bool again = false;        // a device gave the job back
    };
    class Lane;
    /// One device of the pipeline.
    struct Place {
        std::shared_ptr<core::BackendState> backend_state;
        std::shared_ptr<const core::ProgramObject> program;
        std::size_t device = 0;  // its place in the Devices
    };
    using OnLost = std::function<void(std::size_t device)>;

    /// `on_lost` is called for each device that is lost, on the thread of that device; it must not throw.
    Impl(std::vector<Place> places, const BatchOptions& options, OnLost on_lost);
    ~Impl();

    // On the threads of the lanes.
    std::size_t take(const Lane& lane, std::span<std::pair<std::uint64_t, const Job*>> taken, bool busy);
    bool hand_on(const Lane& lane, std::uint64_t id) noexcept;
    bool any_queued(const Lane& lane) const;
    void notify(std::uint64_t newly_done);
    using Ids = std::map<std::uint64_t, std::uint64_t>;  // of the jobs of a lane, by their number there
    void give_back(Lane& lane, const Ids& ids, const std::exception_ptr& error) noexcept;
    void fail_all(const Ids& ids, const std::exception_ptr& error) noexcept;
    void end(std::uint64_t id, JobState state, const std::exception_ptr& error) noexcept;
    void cancel_queued() noexcept;

    // On the caller's thread.
    [[noreturn]] void throw_failure(const char* function, std::uint64_t id, Entry& failure);
    void admit(std::uint64_t id, Entry entry);
    void check(const Job& job, std::uint64_t index, std::vector<core::JobSpan>& spans) const;
    std::uint64_t known(JobToken token) const;
    bool on_own_thread() const noexcept;
    void require_other_thread(const char* what) const;
    void require_own_process(const char* what) const;
    bool beyond_use() const noexcept;
    void detach() noexcept;
    BatchReport whole_report() const;

    ProgressCallback progress;
    const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
    OnLost on_lost;

    std::mutex notifying;        // guards what follows; held while `progress` runs
    std::uint64_t notified = 0;  // jobs that were reported to `progress`

    mutable std::mutex mutex;  // guards everything below
    std::condition_variable inbox, over;
    std::map<std::uint64_t, Entry> entries;                    // queued and running
    const std::uint64_t first_id;                              // tokens of different pipelines never meet
    std::uint64_t next_id = first_id, next_queued = first_id;  // first id not yet handed to an engine
    /// Queued again, because a device was lost, or had no memory for the job and does not get it again.
    std::map<std::uint64_t, const Lane*> returned;
    std::map<std::uint64_t, Entry> failures;  // failed or cancelled, kept for state(): nodes of `entries`
    core::SpanSet memory;
    std::size_t idle = 0;      // lanes that wait for jobs
    std::exception_ptr fatal;  // no device is left
    bool stop = false;         // the destructor runs
    bool cancelled = false;    // BatchOptions::cancel was stopped

    std::vector<std::unique_ptr<Lane>> lanes;  // never changed after construction
    struct CancelQueued {
        Impl* impl;
        void operator()() const noexcept { impl->cancel_queued(); }
    };
    std::optional<std::stop_callback<CancelQueued>> on_stop;
};

/// A device of the pipeline: an engine that takes jobs from the inbox, and the thread that drives it.
class JobPipeline::Impl::Lane final : public core::JobListener {
  public:
    Lane(Impl& pipeline, Place place, const BatchOptions& options);
    void start();
    void join() { thread_.join(); }
    void detach() { thread_.detach(); }
    bool own_thread() const noexcept { return thread_id_ == std::this_thread::get_id(); }
    const Place& place() const noexcept { return place_; }
    core::Device& device() const { return place_.backend_state->context()->device; }
    DeviceReport device_report() const;
    void on_job_done(std::uint64_t sequence) override;

    /// Seconds of the pipeline, and parts of the work that the lane took.
    struct Times {
        std::uint64_t shares = 0;
        double busy_s = 0, end_s = 0;  // end: of its last job
    };
    BatchReport report;     // guarded by the pipeline's mutex, as what follows
    Times times;            // as of `report`
    std::string lost_note;  // not empty: the device is lost

  private:
    void run();
    bool step();
    void feed();
    void add_taken(std::span<const std::pair<std::uint64_t, const Job*>> taken);
    void await_oldest();
    void note_done();
    void publish() noexcept;
    void fail(const std::exception_ptr& error) noexcept;
    void fail_one(const std::exception_ptr& error, bool of_memory);

    Impl& pipeline_;
    const Place place_;
    core::BatchSettings settings_;
    std::unique_ptr<core::BatchEngine> engine_;  // touched by the thread alone after construction
    Ids id_of_;                                  // the thread's own
    std::vector<std::uint64_t> finished_;        // done but not yet published; the thread's own
    std::uint64_t noted_ = 0;                    // jobs done that were counted; the thread's own
    Times own_times_;                            // the thread's own
    double busy_before_s_ = 0, began_s_ = 0;     // the thread's own: busy until its engine had work last
    bool starting_ = false;                      // inside engine_->start(); the thread's own
    bool left_ = false;                          // the device is lost; the thread's own
    std::thread thread_;
    std::thread::id thread_id_;  // stays when the thread is detached
};

}  // namespace weft
