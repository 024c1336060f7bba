// SPDX-License-Identifier: Apache-2.0
#include "report/report_advice.hpp"

#include <algorithm>

#include "cli/figures.hpp"
#include "report/report_findings.hpp"

namespace weft::tool {
namespace {

constexpr double kWorthIt = 1.2;       // a smaller gain does not justify a change of a program
constexpr double kStagingBound = 0.6;  // share of the time of a call

/// The largest size at which both paths ran; null: none.
const SizeResult* largest_with(const KernelResult& result, std::size_t process, ReportPath a, ReportPath b) {
    const SizeResult* largest = nullptr;
    for (const SizeResult& size : result.sizes)
        if (size.process == process && size.of(a) != nullptr && size.of(b) != nullptr &&
            (largest == nullptr || size.batch > largest->batch))
            largest = &size;
    return largest;
}

double times_as_fast(const SizeResult& size, ReportPath path, ReportPath than) {
    return size.of(than)->timing.seconds.median / size.of(path)->timing.seconds.median;
}

std::string advice_of_memory(const KernelResult& result, std::size_t process) {
    const SizeResult* size = largest_with(result, process, ReportPath::page_locked, ReportPath::ordinary);
    if (size == nullptr) return {};
    const double gain = times_as_fast(*size, ReportPath::page_locked, ReportPath::ordinary);
    if (gain < kWorthIt) return {};
    return result.label(process) + ": page-locked memory is " + factor(gain) +
           " as fast as ordinary memory here (at " + grouped(size->batch) +
           "); keep inputs and outputs in a HostBuffer.";
}

std::string advice_of_size(const KernelResult& result, std::size_t process) {
    const Best best = best_of(result, process, ReportPath::ordinary, BestBy::speedup);
    if (best.size == nullptr || best.path->speedup <= 0) return {};
    const std::string label = result.label(process) + ": ";
    std::uint64_t least = best.size->batch;
    for (const SizeResult& size : result.sizes)
        if (size.process == process && size.of(ReportPath::ordinary) != nullptr)
            least = std::min(least, size.batch);
    const auto first = wins_from(result, process, ReportPath::ordinary);
    if (first && *first == least) return {};
    if (first)
        return label + "calls of fewer than " + grouped(*first) + " " + result.unit +
               " from ordinary memory do not pay on the device; gather them into larger ones.";
    const Best resident = best_of(result, process, ReportPath::resident, BestBy::speedup);
    if (resident.size != nullptr && resident.path->speedup >= kWorthIt)
        return label +
               "from ordinary memory no size that ran pays on the device, but on resident arrays it is " +
               speedup_text(*resident.path) + " as fast as the CPU (at " + grouped(resident.size->batch) +
               "); keep the arrays on the device between calls (Stream, Buffer).";
    return {};
}

std::string advice_of_staging(const KernelResult& result, const StageSplit& split) {
    double copies = 0, most = 0;
    for (const StageTime& stage : split.stages) {
        const bool copy = stage.stage == "copy-in" || stage.stage == "copy-out";
        (copy ? copies : most) = copy ? std::max(copies, stage.busy_s) : std::max(most, stage.busy_s);
    }
    if (split.wall_s <= 0 || copies < kStagingBound * split.wall_s || copies < most) return {};
    return result.label(split.process) + ": the host's copies between ordinary and page-locked memory take " +
           percent(copies / split.wall_s) + " of a call (at " + grouped(split.batch) +
           "); keep the arrays in a HostBuffer, or try more copy threads (WEFT_COPY_THREADS, weft tune).";
}

std::string advice_of_cuda(const KernelResult& result, std::size_t process) {
    const SizeResult* size = largest_with(result, process, ReportPath::cuda, ReportPath::ordinary);
    if (size == nullptr) return {};
    const double gain = times_as_fast(*size, ReportPath::cuda, ReportPath::ordinary);
    if (gain < kWorthIt) return {};
    return result.label(process) + ": CUDA is " + factor(gain) + " as fast as Vulkan here (at " +
           grouped(size->batch) + "); --backend cuda takes it.";
}

/// Names of processes with sizes that were left out because the report had no time for them.
std::string advice_of_time(const KernelResult& result) {
    std::string labels, limit;
    for (std::size_t p = 0; p < result.processes.size(); ++p) {
        bool any = false;
        for (const SizeResult& size : result.sizes)
            for (const PathResult& path : size.paths) {
                if (size.process != p || !path.failure.starts_with("left out: ")) continue;
                any = true;
                limit = path.failure.find("(--max-seconds") != std::string::npos ? "--max-seconds"
                                                                                 : "--total-seconds";
            }
        if (any) labels += (labels.empty() ? "" : ", ") + result.label(p);
    }
    return labels.empty() ? labels
                          : labels + ": sizes were left out for time; raise " + limit + " to measure them.";
}

std::vector<std::string> advice_of_machine(const Machine& machine) {
    std::vector<std::string> all;
    if (machine.type == "cpu")
        all.push_back(
            machine.device +
            " is a software device, which runs on the CPU's own cores: no figure here is what a GPU "
            "does. weft info lists the devices there are, --device takes one of them.");
    if (machine.tuning == "absent")
        all.push_back(
            "weft tune has not been run for this device: copy threads, paths, slots and chunks are planned, "
            "not "
            "measured.");
    else if (!machine.tuning.empty() && machine.tuning != "used" && machine.tuning != "off")
        all.push_back("What weft tune kept for this device is not used (" + machine.tuning +
                      "); run weft tune again.");
    return all;
}

}  // namespace

std::vector<std::string> advice(const KernelResult& result) {
    std::vector<std::string> all;
    const auto add = [&](std::string text) {
        if (!text.empty()) all.push_back(std::move(text));
    };
    for (std::size_t p = 0; p < result.processes.size(); ++p) {
        add(advice_of_memory(result, p));
        add(advice_of_size(result, p));
        add(advice_of_cuda(result, p));
    }
    for (const StageSplit& split : result.splits) add(advice_of_staging(result, split));
    add(advice_of_time(result));
    return all;
}

std::vector<std::string> advice(const Report& report) {
    std::vector<std::string> all = advice_of_machine(report.machine);
    for (const KernelResult& result : report.kernels)
        for (std::string& text : advice(result)) all.push_back(std::move(text));
    return all;
}

}  // namespace weft::tool
