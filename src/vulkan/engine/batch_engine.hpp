// SPDX-License-Identifier: Apache-2.0
// Moves jobs through a ring of slots: copies a planned bundle in, submits it, waits, copies its outputs back.
// BundlePlanner decides what travels, BatchMeter counts it. start() and finish() are the only steps and run
// on the caller's thread: a caller that alternates them overlaps the host's copies with the device's work.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "vulkan/engine/batch_meter.hpp"
#include "vulkan/engine/bundle_planner.hpp"

namespace weft::core {

/// Called when a job is over. Must not throw.
class JobListener {
  public:
    virtual ~JobListener() = default;
    virtual void on_job_done(std::uint64_t job) = 0;
};

class BatchEngine {
  public:
    /// Takes `settings.slots` slots from the backend and gives them back on destruction.
    BatchEngine(BackendState& backend_state, std::shared_ptr<const ProgramObject> program,
                const BatchSettings& settings, JobListener* listener);
    ~BatchEngine();
    BatchEngine(const BatchEngine&) = delete;
    BatchEngine& operator=(const BatchEngine&) = delete;

    /// Queues a checked job, which must stay where it is until it is over. Returns its sequence number; the
    /// first is 0.
    std::uint64_t add(const Job& job) { return add(job, 0, job.elements); }
    /// The same for `count` elements of the job from `first` on; other engines do the rest.
    std::uint64_t add(const Job& job, std::uint64_t first, std::uint64_t count);
    /// Waits for the bundles under way and drops the rest of a job that failed. Other jobs go on.
    void fail(std::uint64_t job);

    bool can_start() const { return pending_.any_left() && has_free_slot(); }
    bool in_flight() const { return in_flight_ != 0; }
    bool has_free_slot() const { return in_flight_ < ring_->slots.size(); }
    /// Waits up to `timeout` for the oldest bundle and returns whether it is done. Counts as a wait for a
    /// slot if no slot is free and jobs are left. `more`: the caller has jobs that it has not added yet.
    /// Errors: device_lost, driver.
    bool await_oldest(std::chrono::nanoseconds timeout, bool spin, bool more = false);
    /// Plans the next bundle and submits it. Errors: out_of_memory, device_lost, driver. Then failed_job() is
    /// the first job of the bundle, which stays queued until fail() drops it.
    void start();
    /// Waits for the oldest bundle and copies its outputs. Errors: device_lost, driver.
    void finish();
    /// Waits for all bundles under way, then forgets them and all queued jobs.
    void abandon() noexcept;

    std::uint64_t failed_job() const { return failed_job_; }
    std::uint64_t jobs_done() const { return meter_.jobs_done(); }
    /// Elements whose outputs are in place, in the order of the jobs.
    std::uint64_t elements_done() const { return elements_done_; }
    std::uint64_t next_sequence() const { return pending_.base + pending_.jobs.size(); }
    BatchReport report() const { return meter_.report(); }
    StagingRing& scratch() { return *ring_; }

  private:
    Slot& next_slot() { return *ring_->slots[(head_ + in_flight_) % ring_->slots.size()]; }
    void skip_over();
    void complete_job(std::uint64_t job);
    bool reserve(Slot& slot);
    const CutPipeline* cut_of(Bundle& work) const;
    void learn(const Slot& slot, std::optional<double> kernel_s, SteadyTime done);
    void build(Slot& slot);
    void submit(Slot& slot);
    void launch(Slot& slot);

    BackendState& backend_state_;
    Context& context_;
    std::shared_ptr<const ProgramObject> program_;
    const BatchSettings settings_;
    JobListener* listener_;
    std::unique_ptr<StagingRing> ring_;
    BundlePlanner planner_;
    BatchMeter meter_;

    PendingJobs pending_;
    std::size_t head_ = 0, in_flight_ = 0;  // slots under way: in_flight_ of them, from head_ on
    bool oldest_done_ = false;              // await_oldest() found it done
    std::uint64_t failed_job_ = 0, elements_done_ = 0;
    double waited_s_ = 0;           // of the host, when the last bundle was done
    SteadyTime last_done_;          // when the host noticed
    bool waited_for_last_ = false;  // so that it was noticed immediately
};

/// What progress counts: each job that is done, or the elements that are done after each bundle.
enum class Counting { jobs, elements };

/// Does everything that was added. `total`: of the progress. Errors: as run_batch.
BatchReport run_engine(BatchEngine& engine, std::uint64_t total, const BatchOptions& options,
                       SteadyTime begin, Counting counting = Counting::jobs);

/// run_batch with a progress of elements.
BatchReport run_by_elements(Backend& backend, const Program& program, std::span<const Job> jobs,
                            const BatchOptions& options);

}  // namespace weft::core
