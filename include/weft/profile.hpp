// SPDX-License-Identifier: Apache-2.0
// What a backend did while a Profile was alive: device times, bytes, overlap, memory, waits; as figures, as a
// table, as JSON, as CSV, and as a trace for chrome://tracing and ui.perfetto.dev.
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

/// Times of many chunks of work of one kind. Dispatches that were submitted together share their time in
/// equal parts, and where that makes min, median and max those of such shares, count is still exact.
/// Of a Stream, copies between buffers of the device and fills count as kernels "(copy)" and "(fill)", and a
/// replay as one kernel "(sequence)" of as many dispatches as the sequence has steps. What counts is what is
/// submitted while the profile lives: steps recorded before are one kernel "(earlier steps)" likewise.
struct WorkTimes {
    std::uint64_t count = 0;    ///< dispatches; of other stages, transfers (of copies: one a thread)
    std::uint64_t untimed = 0;  ///< of `count`, on queues without timestamps: in none of the times below
    std::uint64_t bytes = 0;    ///< moved; of kernels, bound
    std::uint64_t timed_bytes = 0;
    double busy_s = 0;   ///< union of the intervals: time in which at least one ran
    double total_s = 0;  ///< sum of the intervals
    double min_s = 0, mean_s = 0, median_s = 0, p99_s = 0, max_s = 0;  ///< of one; percentiles: nearest rank
    /// timed_bytes / busy_s / 1e9: total over total, never a mean of rates. 0 where nothing was timed.
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
    std::uint64_t waits = 0;     ///< of these, how many found every slot still in use and waited
    double wait_s = 0;
    double starvation() const;  ///< waits / acquires
};

struct PoolReport {
    std::uint64_t start_bytes = 0;  ///< in use by buffers when the window began
    std::uint64_t live_bytes = 0;   ///< in use now; falls when buffers are freed
    std::uint64_t peak_bytes = 0;   ///< highest within the window
    std::uint64_t allocations = 0;  ///< buffers that asked for memory
    std::uint64_t hits = 0;         ///< of these, served without asking the driver
    double hit_rate() const;        ///< hits / allocations
};

struct ProfileReport {
    std::string device;
    std::string clock;                     ///< how the device's clock was brought to the host's
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
    /// Mean busy time over the largest, of the queues that were used: 1 even, 1/n all on one of n.
    double queue_balance = 0, stream_balance = 0;
    PoolReport memory;
    RingReport ring;
    std::uint64_t replays = 0;         ///< recorded sequences submitted again
    std::uint64_t dropped_events = 0;  ///< beyond the limit; where not 0, times lack them
    std::uint64_t dropped_names = 0;   ///< events whose job or program counts under "(more names)"

    /// Share of the window in which no stage ran: checks, plans, submissions, waits, whatever else there was.
    /// What queues without timestamps did is not known and counts as nothing (WorkTimes::untimed).
    double idle() const;
    const WorkTimes& stage(Stage stage) const;
    std::string to_table() const;
    std::string to_json() const;
    std::string to_csv() const;  ///< one line for each stage and kernel, with a header
};

struct ProfileOptions {
    std::uint64_t max_events = std::uint64_t{1} << 20;  ///< kept; about 100 bytes each, taken as they come
};

/// Collects everything its backend does, on any thread, from here to its end. Several may be alive
/// simultaneously; each has its own window. Move-only; keeps the device alive. One thread at a time.
class Profile {
  public:
    /// Errors: invalid_argument - max_events is 0; device_lost.
    explicit Profile(Backend& backend, const ProfileOptions& options = {});
    Profile(Profile&&) noexcept;
    Profile& operator=(Profile&&) noexcept;
    ~Profile();

    /// Figures from construction to now. Of streams everything counts that the device has done by now, of
    /// batches and pipelines the bundles that were awaited.
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
