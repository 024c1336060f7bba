// SPDX-License-Identifier: Apache-2.0
// Decides which chunks travel next, by which path, and how much memory they need. Starts nothing.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "plan/work/batch_check.hpp"
#include "vulkan/engine/backend_state.hpp"
#include "vulkan/engine/program.hpp"

namespace weft::core {

/// A job from add() until it is over.
struct PendingJob {
    const Job* job = nullptr;
    std::uint64_t next = 0;  // first element not yet started
    std::uint64_t end = 0;   // behind the last element that this engine does
    std::uint32_t open_chunks = 0;
    bool over = false;
};

/// Jobs in order of submission. Their sequence numbers begin at 0.
struct PendingJobs {
    std::deque<PendingJob> jobs;
    std::uint64_t base = 0;  // sequence number of jobs.front()
    std::size_t next = 0;    // index of the first job with elements left to start

    PendingJob& at(std::uint64_t job) { return jobs[job - base]; }
    bool any_left() const { return next < jobs.size(); }
};

class BundlePlanner {
  public:
    /// `chunks`: scratch memory of the ring.
    BundlePlanner(BackendState& backend_state, const ProgramObject& program, const BatchSettings& settings,
                  std::vector<PlannedChunk>& chunks);

    /// Gathers the chunks of the next bundle. `total_bytes`: of all jobs added so far. false: nothing to
    /// start.
    bool plan(const PendingJobs& pending, std::uint64_t total_bytes);
    const AreaNeeds& needs() const { return needs_; }
    /// Turns the plan into work on the memory of a slot. The plan is empty afterwards.
    void write(const Areas& areas, Bundle& work);
    /// The bundle was started. The sizes of the next chunks depend on how much was started.
    void note_started(const Bundle& work) { started_bytes_ += work.bytes; }
    /// To be called when the planned memory was refused and all `slots` slots are idle and empty. Plans
    /// smaller chunks as long as the chunks take the memory, then fewer slots. Returns the number of slots to
    /// continue with. Errors: out_of_memory - nothing smaller is left.
    std::size_t shrink_request(const Error& refusal, std::size_t slots);

    /// Ends the imports of a job that is over.
    void release_imports(std::uint64_t job);
    /// Drops the plan, which holds page-locked memory of the user.
    void drop_plan() noexcept { chunks_.clear(); }
    /// Drops the plan and all imports.
    void clear() noexcept;

  private:
    PlannedChunk locate(const Job& job, const Chunk& rest) const;
    Route route_of(const PlannedChunk& planned) const;
    std::uint64_t count_of(const PlannedChunk& planned, const Route& route, std::uint64_t started,
                           std::uint64_t total_bytes) const;
    double work_of(const Job& job, std::uint64_t elements) const;
    std::uint64_t part_workgroups(const Job& job, std::uint64_t elements, const WorkgroupGrid& grid) const;
    void cut(PlannedChunk& planned, const Route& route, std::uint64_t count);
    HostRange import(const Chunk& chunk, const void* data, std::uint64_t bytes);

    BackendState& backend_state_;
    const Device& device_;
    const ProgramObject& program_;
    const ProgramNeeds program_needs_;
    const BatchSettings& settings_;
    BundleLayout layout_;

    // The plan.
    std::vector<PlannedChunk>& chunks_;
    Route route_;
    AreaNeeds needs_{};

    static constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};
    std::uint64_t memory_chunk_limit_ = kNoLimit;  // elements
    std::uint64_t started_bytes_ = 0;  // counts a table once a chunk, so it may pass the jobs' own bytes
    std::vector<std::pair<std::uint64_t, std::shared_ptr<BufferObject>>> imports_;  // by job
};

}  // namespace weft::core
