// SPDX-License-Identifier: Apache-2.0
// The engine: many jobs in host memory through one program, while upload, kernel and download of neighbouring
// chunks overlap.
//
// Example:
//     weft::Backend backend;
//     const weft::Program program(backend, weft::compile_glsl({.file = "saxpy.comp"}));
//     std::vector<weft::Job> jobs;
//     const weft::BatchReport report = weft::run_batch(backend, program, jobs, {.ring_slots = 4});
//     std::printf("%.1f GB/s, %.0f%% overlapped\n", report.gb_per_s(), 100 * report.overlap());
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <weft/backend.hpp>
#include <weft/error.hpp>
#include <weft/job.hpp>
#include <weft/program.hpp>

namespace weft {

enum class BatchMode {
    sequential,  ///< one chunk after the other, each awaited before the next begins
    pipelined,   ///< upload, kernel and download of neighbouring chunks overlap
};

/// How much of a call on host memory is done. run_batch counts jobs; every other call counts what
/// OpReport::items counts.
struct Progress {
    std::uint64_t done = 0, total = 0;
    double elapsed_s = 0;
    double per_s() const;        ///< done / elapsed_s; 0 before anything is done
    double remaining_s() const;  ///< at that rate; 0 before anything is done
};

/// Called whenever more is done; `done` only rises. Calls on host memory call it on the caller's thread, and
/// an exception that it throws ends the call. A JobPipeline calls it on its own thread before a wait for that
/// job returns, and `total` counts the jobs submitted so far; the callback may submit jobs, but must not wait
/// for jobs or destroy the pipeline. An exception that it throws there fails every job that is not done:
/// waits for these jobs and later submits throw it.
using ProgressCallback = std::function<void(const Progress&)>;

/// Settings of one call. 0 and `automatic` fall back to the backend's Config, then to the plan.
struct BatchOptions {
    BatchMode mode = BatchMode::pipelined;
    Path path = Path::automatic;
    QueueMode queues = QueueMode::automatic;
    std::uint64_t chunk_elements = 0;  ///< 0: as configured
    std::uint32_t ring_slots = 0;      ///< 0: as configured
    /// Stage times from the device's timestamps; automatic: for batches of 1 MiB or more, if the device has
    /// timestamps.
    Choice stage_times = Choice::automatic;
    ProgressCallback progress = {};
    /// Checked between bundles (kernel matrices: between tiles). A stop ends the call with Errc::cancelled,
    /// and outputs of unfinished jobs are undefined then. A JobPipeline cancels its queued jobs and finishes
    /// the running ones.
    std::stop_token cancel = {};
};

/// Stages of a job. The device's own timestamps time the first three; the clock of the thread that copies
/// times the copies between ordinary and page-locked memory.
enum class Stage { upload, kernel, download, copy_in, copy_out };
inline constexpr std::size_t kStages = 5;
const char* to_string(Stage stage) noexcept;  ///< "upload", "kernel", "download", "copy-in", "copy-out"

/// Device time of one stage of one bundle of chunks, seconds from the first stage of the batch.
struct StageInterval {
    Stage stage = Stage::kernel;
    std::uint32_t slot = 0;
    std::uint32_t job = 0;  ///< first job of the bundle
    double begin_s = 0, end_s = 0;
};

/// What one device of a Devices did in a call.
struct DeviceReport {
    std::string name;          ///< of the device
    std::size_t device = 0;    ///< its place in the Devices
    std::uint64_t shares = 0;  ///< parts of the call that it did
    std::uint64_t jobs = 0;    ///< of these parts; a job that several devices did counts for each
    std::uint64_t items = 0;   ///< in the unit of OpReport::items; of run_batch, elements
    std::uint64_t bytes_in = 0, bytes_out = 0;
    double busy_s = 0;      ///< from the beginning to the end of each share
    double idle_end_s = 0;  ///< from the end of its last share to the end of the call
    bool lost = false;      ///< in this call or before
    std::string note;       ///< why it took no share, or no more; the error if it failed; else empty
};

/// What a batch did. Every figure was measured or counted in that run.
struct BatchReport {
    std::uint64_t jobs = 0, elements = 0, chunks = 0;
    std::uint64_t bundles = 0;                  ///< submitted sets of chunks
    std::uint64_t bytes_in = 0, bytes_out = 0;  ///< of the jobs' spans
    double wall_s = 0;                          ///< from the call to the last output in place
    double copy_in_s = 0, copy_out_s = 0;       ///< host time spent on staging copies
    std::uint64_t waits = 0;                    ///< times the host waited for the device
    double wait_s = 0;
    Path path = Path::automatic;  ///< path of the first bundle; automatic: no bundle ran
    bool mixed_paths = false;     ///< other bundles took another path
    bool split_queues = false;    ///< separate submissions for upload, kernel, download
    std::string host_memory;      ///< allocator of what the device copies from: "vulkan", "cuda", "import";
                                  ///< empty: the device copied nothing
    std::string queues;           ///< e.g. "upload family 1 queue 0, compute family 2 queue 0, ..."
    std::uint32_t ring_slots = 0;
    std::uint64_t chunk_elements = 0;
    std::vector<StageInterval> intervals;  ///< empty when stage times are off, and with several devices
    /// A row for each device of a Devices. Empty: the call was on one Backend. Figures above are then sums
    /// over the devices, except wall_s.
    std::vector<DeviceReport> devices;

    double gb_per_s() const;            ///< (bytes_in + bytes_out) / wall_s / 1e9
    double stage_s(Stage stage) const;  ///< busy time (union of the intervals) of a stage
    double device_s() const;            ///< time in which at least one stage ran
    /// Share of device_s() in which at least two stages ran; 0 without intervals.
    double overlap() const;
};

/// What an op did on host memory: the report of every such call of every family, on Vulkan and on CUDA.
struct OpReport : BatchReport {
    std::string op;      ///< "field_add", "encode", "kernel_matrix", "lattice_encode", ...
    std::string method;  ///< how the op was computed, if there was a choice; else empty
    /// Elements of field ops, samples of encodes, vectors of lattices, pairs of kernel matrices.
    std::uint64_t items = 0;
    double items_per_s() const;  ///< items / wall_s; 0 without either
    /// Of lattice codes: vectors with at least one retry, and vectors that still overload after the last one.
    std::uint64_t retried = 0, unresolved = 0;
    /// Of kernel matrices with BatchOptions::stage_times on, if the device has timestamps: device time of
    /// building and packing states, and of products. Includes kernel matrices that other threads make on the
    /// backend at the same time.
    double states_s = 0, product_s = 0;
};

/// Runs all jobs through `program` and returns when every output is in place.
///
/// Errors: invalid_argument - spans that do not fit the program's bindings or the element count, null spans,
/// spans that overlap where they must not, parameters that do not fit the push-constant block; nothing has
/// run then and outputs are untouched. out_of_memory, cancelled, device_lost, driver, or whatever `progress`
/// throws: outputs of unfinished jobs are undefined; the backend stays usable, except after device_lost.
BatchReport run_batch(Backend& backend, const Program& program, std::span<const Job> jobs,
                      const BatchOptions& options = {});
/// The same on several devices. `program` was made for them all. Large jobs are cut among the devices, small
/// ones are not. Jobs in place cannot be repeated if a device is lost.
BatchReport run_batch(Devices& devices, const Program& program, std::span<const Job> jobs,
                      const BatchOptions& options = {});

/// Identifies a job of one JobPipeline; other pipelines refuse it.
struct JobToken {
    std::uint64_t id = 0;
};

enum class JobState { queued, running, done, failed, cancelled };

/// A running batch that takes jobs one by one. Its own thread moves them through the device, in the order of
/// their submission, while the caller does other work. Belongs to one thread at a time. The destructor
/// cancels queued jobs and waits for running ones.
class JobPipeline {
  public:
    /// Errors: invalid_argument - options out of range. unsupported - a path that the device cannot take.
    JobPipeline(Backend& backend, const Program& program, const BatchOptions& options = {});
    /// Each job runs on the device that is free first. `program` was made for all of `devices`.
    JobPipeline(Devices& devices, const Program& program, const BatchOptions& options = {});
    JobPipeline(JobPipeline&&) noexcept;
    JobPipeline& operator=(JobPipeline&&) noexcept;
    ~JobPipeline();

    /// Queues a job and never waits. Its inputs may change and its outputs are ready once wait() has returned
    /// true for the token. Errors: as run_batch; invalid_argument - the job overlaps memory of a job that is
    /// not done; cancelled - BatchOptions::cancel was stopped.
    JobToken submit(const Job& job);
    /// true: the job is done. false: it was still queued or running when the time was up; wait again.
    /// Errors: the job's own failure; cancelled; invalid_argument - a token of another pipeline.
    bool wait(JobToken token, std::chrono::nanoseconds timeout = (std::chrono::nanoseconds::max)());
    JobState state(JobToken token) const;
    /// true: the job had not reached the device and now never will. false: too late.
    bool cancel(JobToken token);
    /// Waits for every job. Errors: the first failure among jobs not yet waited for; cancelled - a stop of
    /// BatchOptions::cancel cancelled one of them. Jobs that cancel() cancelled are not failures.
    void wait_all();
    /// Totals of the jobs done so far.
    BatchReport report() const;

  private:
    struct Impl;
    Impl& impl() const;
    std::unique_ptr<Impl> impl_;
};

}  // namespace weft
