// SPDX-License-Identifier: Apache-2.0
// Counts and times what a batch engine does: the BatchReport, and the events of traces and profiles.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "plan/work/batch_check.hpp"
#include "vulkan/engine/backend_state.hpp"
#include "vulkan/engine/program.hpp"

namespace weft::core {

class BatchMeter {
  public:
    BatchMeter(BackendState& backend_state, const ProgramObject& program, const BatchSettings& settings);

    /// `elements` of the job that are done here.
    void job_added(const Job& job, std::uint64_t elements);
    void job_done() { ++report_.jobs; }
    void bundle_started(const Bundle& work);
    /// Reads the stage times of a bundle that is done, and returns the seconds of its kernel if it was timed.
    /// `idle`: no other bundle is under way. Errors: device_lost, driver.
    std::optional<double> bundle_done(const Slot& slot, bool idle);
    /// Makes the staging copies of a stage, copy_in or copy_out, and times them.
    void copy(const Slot& slot, Stage stage);
    /// Waits up to `timeout` for a bundle and returns whether it is done. `ring_wait`: work is waiting and no
    /// slot is free. Errors: device_lost, driver.
    bool wait(Token done, std::chrono::nanoseconds timeout, bool spin, bool ring_wait);

    /// How long the host has waited for bundles so far.
    double waited_s() const { return report_.wait_s; }
    std::uint64_t jobs_done() const { return report_.jobs; }
    /// Of all jobs added so far.
    std::uint64_t total_bytes() const { return report_.bytes_in + report_.bytes_out; }
    /// Times run until now.
    BatchReport report() const;
    /// Says at level info what the batch did. Never throws.
    void log() const noexcept;

  private:
    void note_route(const Bundle& work);
    StageEvent event_of(const Slot& slot, Stage stage) const;
    bool read_interval(const Slot& slot, QueueRole stage, QueueRole timed_by, StageEvent& event);
    void keep_interval(const Slot& slot, Stage stage, const StageEvent& event);

    Context& context_;
    CopyWorkers& copy_workers_;
    const ProgramObject& program_;
    const BatchSettings& settings_;
    BatchReport report_;
    const char* path_reason_ = "";  // of the first bundle
    const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    std::optional<std::int64_t> first_stage_ns_;  // the report's intervals count from here
};

}  // namespace weft::core
