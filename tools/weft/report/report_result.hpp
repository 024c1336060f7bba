// SPDX-License-Identifier: Apache-2.0
// What a report holds: plain data between measuring and writing.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/report_measure.hpp"

namespace weft::tool {

/// Who does the work, and from where to where.
enum class ReportPath {
    cpu,          ///< this machine's processor, one thread or all, whichever is faster at the size
    ordinary,     ///< the device, between arrays in ordinary memory
    page_locked,  ///< the device, between arrays in page-locked memory
    resident,     ///< the device, arrays in its own memory
    cuda,         ///< the device by CUDA, between arrays in ordinary memory; the three above: by Vulkan
};
inline constexpr std::array<ReportPath, 5> kReportPaths{
    ReportPath::cpu, ReportPath::ordinary, ReportPath::page_locked, ReportPath::resident, ReportPath::cuda};
const char* to_string(ReportPath path) noexcept;

struct PathResult {
    ReportPath path = ReportPath::cpu;
    Timing timing;
    bool verified = false;    ///< compared with the CPU's result; of the CPU: a device agreed
    std::string failure;      ///< why there is no timing; else empty
    unsigned threads = 0;     ///< of cpu: that it may take here; 0: another path, or unknown
    double speedup = 0;       ///< over the CPU; 0: unknown
    double over_vulkan = 0;   ///< of cuda: over the same call by Vulkan; 0: unknown
    double of_resident = 0;   ///< of calls from host memory: resident arrays' time over its own; 0: unknown
    double ceiling_s = 0;     ///< least time that copies or memory allow; 0: unknown
    double arithmetic_s = 0;  ///< of resident arrays: least time that multiplications take; 0: unknown
    /// Of cpu, sizes that its time is reckoned from where it would take too long; empty: it was measured.
    std::vector<std::uint64_t> extrapolated_from{};
    bool over_extrapolated = false;    ///< `speedup` rests on a CPU's time that was not measured
    std::uint64_t verified_items = 0;  ///< that were compared, where the CPU made only those; 0: all were
    bool extrapolated() const { return !extrapolated_from.empty(); }
    double of_ceiling() const  ///< share of what copies or memory allow; 0: unknown
    {
        return failure.empty() && timing.seconds.median > 0 ? ceiling_s / timing.seconds.median : 0;
    }
    /// Share of the higher of both floors; 0: unknown.
    double of_floor() const { return of_ceiling() * std::max(1.0, arithmetic_s / ceiling_s); }
    bool ran() const { return failure.empty(); }
};

/// One process at one size.
struct SizeResult {
    std::size_t process = 0;
    std::uint64_t batch = 0, bytes_in = 0, bytes_out = 0;
    std::uint64_t bytes_resident = 0;  ///< that pass through device memory where arrays are resident
    double items = 0;                  ///< what rates count
    double compression = 0;  ///< bytes of values over bytes of code, as written; 0: means nothing here
    std::vector<PathResult> paths;

    const PathResult* of(ReportPath path) const;  ///< null: not measured or failed
    void compare();                      ///< fills in the speed-ups, and whether the CPU's result is verified
    std::string common_failure() const;  ///< why no path ran; empty: one did, or reasons differ
    double per_s(const PathResult& path) const { return items / path.timing.seconds.median; }
    double gb_per_s(const PathResult& path) const {
        return static_cast<double>(bytes_in + bytes_out) / path.timing.seconds.median / 1e9;
    }
};

struct StageTime {
    std::string stage;
    double busy_s = 0;  ///< a call
};

/// Where the time of a process goes, ordinary memory, at one size: of calls of their own under a profile, not
/// of those whose times the report has. All times are a call's.
struct StageSplit {
    std::size_t process = 0;
    std::uint64_t batch = 0;
    std::size_t calls = 0;       ///< that were profiled
    double wall_s = 0;           ///< of these calls; shares are shares of it
    double timed_s = 0;          ///< median of the calls that were timed without a profile
    double overlap = 0;          ///< share of the device's busy time in which two of its stages ran at once
    std::optional<double> idle;  ///< share in which no stage ran; none: a queue has no timestamps
    std::vector<StageTime> stages;
};

struct ProcessResult {
    std::string name;
    double upload_gb_per_s = 0, download_gb_per_s = 0, concurrent_gb_per_s = 0;  ///< of page-locked copies
    double memory_gb_per_s = 0;                                                  ///< of a resident triad
    std::string rate_unit = {};                                                  ///< what its rates count
};

struct KernelResult {
    std::string kernel, unit;  ///< "lattice", "vectors"
    std::vector<std::pair<std::string, std::string>> configuration;
    std::vector<ProcessResult> processes;
    std::vector<SizeResult> sizes;
    std::vector<StageSplit> splits;

    bool any_ran() const;
    bool has(ReportPath path) const;  ///< it ran at some size
    bool any_wrong = false;           ///< a result differed from the CPU's
    bool stopped = false;             ///< before all sizes were measured
    std::string label(std::size_t process) const { return kernel + " " + processes[process].name; }
    const std::string& rate_unit(std::size_t process) const { return processes[process].rate_unit; }
};

struct Machine {
    std::string device, driver, type, uuid, cpu;
    unsigned threads = 1;
    std::string backend = "vulkan";  ///< as --backend names it
    std::string cuda;                ///< version of CUDA, where it is measured; else empty
    std::string tuning = {};         ///< tune::EngineReport::state; empty: unknown
};

/// Everything of one run of the command.
struct Report {
    std::string title, stamp, version;
    Machine machine;
    Repeats repeats;
    std::vector<std::uint64_t> batch_sizes;
    std::vector<KernelResult> kernels;
    std::vector<std::string> notes;  ///< what did not happen and why
    std::vector<std::string> files;  ///< names in the folder, as they are made
};

}  // namespace weft::tool
