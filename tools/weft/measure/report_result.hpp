// SPDX-License-Identifier: Apache-2.0
// The contents of a report: plain data between measurement and output.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "measure/report_measure.hpp"

namespace weft::tool {

/// What does the work, and where its arrays are.
enum class ReportPath {
    cpu,          ///< this machine's processor, one thread or all, whichever is faster at the size
    ordinary,     ///< the device, between arrays in ordinary memory
    page_locked,  ///< the device, between arrays in page-locked memory
    resident,     ///< the device, arrays in its own memory
    cuda,         ///< the device through CUDA, arrays in ordinary memory; the three above use Vulkan
};
inline constexpr std::array<ReportPath, 5> kReportPaths{
    ReportPath::cpu, ReportPath::ordinary, ReportPath::page_locked, ReportPath::resident, ReportPath::cuda};
const char* to_string(ReportPath path) noexcept;

struct PathResult {
    ReportPath path = ReportPath::cpu;
    Timing timing;
    bool verified = false;    ///< compared with the CPU's result; for the CPU: a device agreed
    std::string failure;      ///< why there is no timing; otherwise empty
    unsigned threads = 0;     ///< of cpu: the most it may use; 0: another path, or unknown
    double speedup = 0;       ///< over the CPU; 0: unknown
    double over_vulkan = 0;   ///< of cuda: over the same call through Vulkan; 0: unknown
    double of_resident = 0;   ///< of calls from host memory: resident time / its own time; 0: unknown
    double ceiling_s = 0;     ///< least time that copies or memory allow; 0: unknown
    double arithmetic_s = 0;  ///< of resident arrays: least time that multiplications take; 0: unknown
    /// For cpu: the sizes that its time is extrapolated from, if it would take too long; empty: it was
    /// measured.
    std::vector<std::uint64_t> extrapolated_from{};
    bool over_extrapolated = false;    ///< `speedup` depends on a CPU time that was not measured
    std::uint64_t verified_items = 0;  ///< compared items, if the CPU made only those; 0: all
    bool extrapolated() const { return !extrapolated_from.empty(); }
    double of_ceiling() const  ///< share of what copies or memory allow; 0: unknown
    {
        return failure.empty() && timing.seconds.median > 0 ? ceiling_s / timing.seconds.median : 0;
    }
    /// Share of the higher of the two floors; 0: unknown.
    double of_floor() const { return of_ceiling() * std::max(1.0, arithmetic_s / ceiling_s); }
    bool ran() const { return failure.empty(); }
};

/// One process at one size.
struct SizeResult {
    std::size_t process = 0;
    std::uint64_t batch = 0, bytes_in = 0, bytes_out = 0;
    std::uint64_t bytes_resident = 0;  ///< bytes through device memory for resident arrays
    double items = 0;                  ///< what rates count
    double compression = 0;  ///< bytes of values / bytes of code, as written; 0: has no meaning here
    std::vector<PathResult> paths;

    const PathResult* of(ReportPath path) const;  ///< null: not measured or failed
    void compare();                      ///< fills in speed-ups, and whether the CPU's result is verified
    std::string common_failure() const;  ///< why no path ran; empty: one did, or reasons differ
    double per_s(const PathResult& path) const { return items / path.timing.seconds.median; }
    double gb_per_s(const PathResult& path) const {
        return static_cast<double>(bytes_in + bytes_out) / path.timing.seconds.median / 1e9;
    }
};

struct StageTime {
    std::string stage;
    double busy_s = 0;  ///< per call
};

/// Where the time of a process in ordinary memory goes, at one size. These are separate calls under a
/// profile, not the calls whose times the report shows. All times are per call.
struct StageSplit {
    std::size_t process = 0;
    std::uint64_t batch = 0;
    std::size_t calls = 0;       ///< calls that were profiled
    double wall_s = 0;           ///< of these calls; shares are relative to it
    double timed_s = 0;          ///< median of the calls that were timed without a profile
    double overlap = 0;          ///< share of the device's busy time with two stages running simultaneously
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
    bool stopped = false;             ///< stopped before all sizes were measured
    std::string label(std::size_t process) const { return kernel + " " + processes[process].name; }
    const std::string& rate_unit(std::size_t process) const { return processes[process].rate_unit; }
};

struct Machine {
    std::string device, driver, type, uuid, cpu;
    unsigned threads = 1;
    std::string backend = "vulkan";  ///< as --backend names it
    std::string cuda;                ///< version of CUDA, if it is measured; otherwise empty
    std::string tuning = {};         ///< tune::EngineReport::state; empty: unknown
};

/// Everything of one run of the command.
struct Report {
    std::string title, stamp, version;
    Machine machine;
    Repeats repeats;
    std::vector<std::uint64_t> batch_sizes;
    std::vector<KernelResult> kernels;
    std::vector<std::string> notes;  ///< what was not done, and why
    std::vector<std::string> files;  ///< names in the folder, in the order in which they are written
};

}  // namespace weft::tool
