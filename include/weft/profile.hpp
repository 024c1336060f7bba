// SPDX-License-Identifier: Apache-2.0
// What a backend did while a Profile was alive: device times, bytes, overlap, memory and waits, as figures,
// table, JSON, CSV, and as a trace for chrome://tracing and ui.perfetto.dev.
//
// Example:
//     weft::Backend backend;
//     const weft::Profile profile(backend);
//     std::puts(profile.report().to_table().c_str());
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <weft/backend.hpp>
#include <weft/batch.hpp>

namespace weft {

/// Times of work of one kind. Dispatches that were submitted together share their time in equal parts; min,
/// median and max are then those of such shares, and count is exact. On a Stream, copies between buffers of
/// the device and fills count as kernels "(copy)" and "(fill)", and a replay as one kernel "(sequence)" with
/// as many dispatches as the sequence has steps. Everything that is submitted while the profile lives counts:
/// steps recorded before then appear in the same way as one kernel "(earlier steps)".
struct WorkTimes {
    std::uint64_t count = 0;    ///< dispatches; of other stages, transfers (of copies: one a thread)
    std::uint64_t untimed = 0;  ///< part of `count`: on queues without timestamps, in none of the times below
    std::uint64_t bytes = 0;    ///< moved; of kernels, bound
    std::uint64_t timed_bytes = 0;
    double busy_s = 0;   ///< union of the intervals: time in which at least one ran
    double total_s = 0;  ///< sum of the intervals
    double min_s = 0, mean_s = 0, median_s = 0, p99_s = 0, max_s = 0;  ///< of one; percentiles: nearest rank
    /// timed_bytes / busy_s / 1e9, not a mean of rates; 0 if nothing was timed.
    double gb_per_s() const;
};

struct StageReport {
    Stage stage = Stage::upload;
    WorkTimes times;
};

struct KernelReport {
    std::string program;
    WorkTimes times;
};

/// A queue of the device, or a thread that copied.
struct TrackReport {
    std::string name;
    bool timed = true;  ///< false: a queue without timestamps; its busy time is unknown, not zero
    std::uint64_t events = 0;
    double busy_s = 0;       ///< union of its intervals within the window
    double utilisation = 0;  ///< busy_s / wall_s
};

struct StreamReport {
    std::string name;  ///< empty: batches and pipelines; "stream": streams without a name
    std::uint64_t events = 0;
    double busy_s = 0;
};

struct RingReport {
    std::uint64_t acquires = 0;  ///< slots taken, one for each bundle of chunks
    std::uint64_t waits = 0;     ///< part of these: every slot was still in use, so the caller waited
    double wait_s = 0;
    double starvation() const;  ///< waits / acquires
};

struct PoolReport {
    std::uint64_t start_bytes = 0;  ///< in use by buffers when the window began
    std::uint64_t live_bytes = 0;   ///< in use now; falls when buffers are freed
    std::uint64_t peak_bytes = 0;   ///< highest within the window
    std::uint64_t allocations = 0;  ///< buffers that asked for memory
    std::uint64_t hits = 0;         ///< part of these: served without an allocation by the driver
    double hit_rate() const;        ///< hits / allocations
};

struct ProfileReport {
    std::string device;
    std::string clock;                     ///< how device times were converted to the host's clock
    double wall_s = 0;                     ///< length of the window
    std::vector<StageReport> stages;       ///< all five, in the order of Stage
    std::vector<KernelReport> kernels;     ///< by program, most busy first
    std::vector<TrackReport> queues;       ///< of the device
    std::vector<TrackReport> copy_tracks;  ///< threads that copied
    std::vector<StreamReport> streams;
    double busy_s = 0;    ///< time within the window in which a stage ran, on the device or the host
    double device_s = 0;  ///< time in which at least one of upload, kernel, download ran
    /// Share of device_s in which at least two of them ran simultaneously.
    double overlap = 0;
    /// Share of the device's copy time (uploads and downloads, union) during which kernels ran.
    double copy_hidden = 0;
    /// Share of the host's copy time (copy-in and copy-out, union) during which the device worked.
    double host_copy_hidden = 0;
    /// Mean busy time of the used queues over the largest: 1 if all were equally busy, 1/n if one of n did
    /// all work.
    double queue_balance = 0, stream_balance = 0;
    PoolReport memory;
    RingReport ring;
    std::uint64_t replays = 0;         ///< recorded sequences submitted again
    std::uint64_t dropped_events = 0;  ///< beyond the limit; if not 0, they are missing in the times
    std::uint64_t dropped_names = 0;   ///< events whose job or program counts under "(more names)"

    /// Share of the window in which no stage ran, such as checks, plans, submissions and waits. The work of
    /// queues without timestamps is not known and does not count (WorkTimes::untimed).
    double idle() const;
    const WorkTimes& stage(Stage stage) const;
    std::string to_table() const;
    std::string to_json() const;
    std::string to_csv() const;  ///< one line for each stage and kernel, with a header
};

struct ProfileOptions {
    std::uint64_t max_events = std::uint64_t{1}
                               << 20;  ///< events to keep, of about 100 bytes each, allocated as they come
};

/// Collects everything that its backend does, on any thread, as long as it lives. Several may be alive
/// simultaneously, each with its own window. Move-only; keeps the device alive. One thread at a time.
class Profile {
  public:
    /// Errors: invalid_argument - max_events is 0; device_lost.
    explicit Profile(Backend& backend, const ProfileOptions& options = {});
    Profile(Profile&&) noexcept;
    Profile& operator=(Profile&&) noexcept;
    ~Profile();

    /// Figures from construction to now. Work of streams counts if the device has done it by now, work of
    /// batches and pipelines if its bundle was awaited.
    ProfileReport report() const;
    /// Writes the trace event format; the file appears whole or not at all. Errors: invalid_argument - an
    /// empty path; io.
    void write_trace(const std::filesystem::path& path) const;

  private:
    struct Impl;
    Impl& impl() const;
    std::unique_ptr<Impl> impl_;
};

}  // namespace weft
