// SPDX-License-Identifier: Apache-2.0
// Moves jobs through a ring: cut into chunks, gather chunks into bundles, copy, submit, wait, copy back.
// Driven by its owner's thread: start() and finish() are the only steps, so a caller that alternates them
// overlaps the host's copies with the device's work without a thread of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "plan/work/batch_plan.hpp"
#include "vulkan/engine/program_object.hpp"
#include "vulkan/engine/recorder.hpp"
#include "vulkan/engine/backend_state.hpp"

namespace weft::core {

/// Told when a job is over. Must not throw.
class JobListener {
  public:
    virtual ~JobListener() = default;
    virtual void on_job_done(std::uint64_t job) = 0;
};

class BatchEngine {
  public:
    /// `settings.slots` slots are taken from the runtime and given back on destruction.
    BatchEngine(BackendState& backend_state, std::shared_ptr<const ProgramObject> program, const BatchSettings& settings,
                JobListener* listener);
    ~BatchEngine();
    BatchEngine(const BatchEngine&) = delete;
    BatchEngine& operator=(const BatchEngine&) = delete;

    /// Queues a checked job; it must stay where it is until it is over. Returns its sequence number, from 0
    /// on.
    std::uint64_t add(const Job& job);
    /// Waits for what runs and drops what is left of a job that failed; the others go on.
    void fail(std::uint64_t job);

    bool can_start() const { return next_ < jobs_.size() && in_flight_ < ring_->slots.size(); }
    bool in_flight() const { return in_flight_ != 0; }
    bool has_free_slot() const { return in_flight_ < ring_->slots.size(); }
    /// More could start if only a slot were free; `more`: the caller has jobs of its own waiting.
    bool is_slot_bound(bool more = false) const { return !has_free_slot() && (more || next_ < jobs_.size()); }
    /// Waits for the oldest bundle as long as told; a wait for want of a slot is one of the ring's. false:
    /// the time is up. Errors: device_lost, driver.
    bool await_oldest(std::chrono::nanoseconds timeout, bool spin, bool more = false);
    /// Builds the next bundle and hands it to the device. Errors: out_of_memory, device_lost, driver; the
    /// first job of the bundle is failed_job() then, and still queued until fail() drops it.
    void start();
    /// Token of the oldest bundle under way.
    Token oldest() const;
    /// Waits for the oldest bundle and copies its outputs. Errors: device_lost, driver.
    void finish();
    /// Waits for all bundles under way and forgets them and all queued jobs.
    void abandon() noexcept;
    std::uint64_t failed_job() const { return failed_job_; }
    std::uint64_t jobs_done() const { return report_.jobs; }
    std::uint64_t next_sequence() const { return base_ + jobs_.size(); }

    /// Times of the report that end "now".
    BatchReport report() const;
    StagingRing& scratch() { return *ring_; }

  private:
    struct Pending {
        const Job* job = nullptr;
        std::uint64_t next = 0;  // first element not yet started
        std::uint32_t open_chunks = 0;
        bool over = false;
    };
    struct BundlePlan {
        Route route;
        AreaNeeds needs{};
        std::vector<Chunk> chunks;
    };

    Pending& pending(std::uint64_t job) { return jobs_[job - base_]; }
    void skip_over();
    void complete_job(std::uint64_t job);
    bool plan_bundle();
    HostRange import_for(std::uint64_t job, const void* data, std::uint64_t bytes);
    void locate(const Chunk& chunk, bool import, ChunkSpans& spans);
    bool reserve(Slot& slot);
    void shrink_request(const Error& refusal);
    void build(Slot& slot);
    void submit(Slot& slot);
    static void flush(const Bundle& work);
    void launch(Slot& slot);
    StageEvent event_of(const Slot& slot, ProfileStage stage) const;
    void report_stages(const Slot& slot, std::uint32_t index);
    bool read_interval(const Slot& slot, std::size_t role, QueueRole timed_by, StageEvent& event);
    void note_route(const Route& route, const Bundle& work);
    void timed_copy(const Slot& slot, ProfileStage stage);
    SubmitMode shape(const Bundle& work) const;
    /// Workgroups of the copy shader for the downloads of a bundle; 0: the copy engine's.
    std::uint32_t pace_of(const Bundle& work);

    BackendState& backend_state_;
    Context& context_;
    std::shared_ptr<const ProgramObject> program_;
    ProgramNeeds shape_;
    BatchSettings settings_;
    JobListener* listener_;
    std::unique_ptr<StagingRing> ring_;
    BundleLayout layout_;
    BundlePlan plan_;

    std::deque<Pending> jobs_;
    std::uint64_t base_ = 0;  // sequence number of jobs_.front()
    std::size_t next_ = 0;    // index into jobs_ of the first with elements left to start
    std::size_t head_ = 0, in_flight_ = 0;
    std::uint64_t memory_chunk_limit_ = ~std::uint64_t{0};
    bool oldest_done_ = false;  // await_oldest() has seen it
    std::uint64_t failed_job_ = 0;
    std::uint64_t started_bytes_ = 0;  // counts tables once a chunk, so it may pass the jobs' own bytes

    std::vector<std::pair<std::uint64_t, std::shared_ptr<BufferObject>>> imports_;  // by job

    BatchReport report_;
    std::chrono::steady_clock::time_point begin_;
    std::optional<std::int64_t> first_stage_ns_;  // what the report's intervals count from
};

}  // namespace weft::core
