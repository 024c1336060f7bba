// SPDX-License-Identifier: Apache-2.0
#include "cli/figures.hpp"
#include "report/report_advice.hpp"
#include "report/report_files.hpp"
#include "report/report_findings.hpp"

namespace weft::tool {
namespace {

/// Text of a cell, in which a bar would end the cell.
std::string cell(std::string text) {
    for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
    return text;
}

std::string row(std::initializer_list<std::string> cells) {
    std::string line = "|";
    for (const std::string& text : cells) line += " " + cell(text) + " |";
    return line + "\n";
}

std::string rate(double gb_per_s) {
    return si(gb_per_s * 1e9, "B/s");
}

std::string threads_text(unsigned threads) {
    return std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

std::string section_of_machine(const Report& report) {
    const Machine& m = report.machine;
    std::string sizes;
    for (const std::uint64_t size : report.batch_sizes) sizes += (sizes.empty() ? "" : ", ") + grouped(size);
    const std::string beside = m.backend == "vulkan" && !m.cuda.empty() ? ", beside it " + m.cuda : "";
    std::string out = "| | |\n|---|---|\n";
    out += row({"device", m.device + " (" + m.type + ")"}) + row({"driver", m.driver}) +
           row({"CPU baseline", m.cpu + ", " + threads_text(m.threads) +
                                    (m.threads == 1 ? "" : ", or 1 if that is faster: see the tables")}) +
           row({"weft", report.version + ", backend " + m.backend + beside}) + row({"batch sizes", sizes}) +
           row({"runs", report.repeats.repeats == 0
                            ? "not the same for all: see the findings"
                            : std::to_string(report.repeats.repeats) + " measured after " +
                                  std::to_string(report.repeats.warmup) +
                                  " for warm-up, fewer if a figure took more than " +
                                  duration(report.repeats.max_seconds) + "; times are medians"});
    return out;
}

constexpr const char* kLegend =
    "`cpu`: weft's own C++, on one thread or on all, whichever took less at that size. `ordinary`, "
    "`page-locked`: the device, a call from and to such "
    "arrays in "
    "host memory.\n`resident`: the device on arrays in its own memory; up to 16 dispatches a submission, the "
    "time of "
    "one. Results of the\ndevice were compared with the CPU's. *of ceiling*: share of what copies between "
    "page-locked "
    "and device memory allow, of\nwhat a plain pass over device memory allows for `resident`; arrays that a "
    "cache "
    "holds, and unified memory, may exceed it. *multiply*: share of what its multiplications take at the "
    "pace "
    "of plain\nproducts, where that is more. *of resident*: the time of `resident` over its own. `~` marks a "
    "time of "
    "the CPU that\nwas not measured but extrapolated from smaller sizes, and the speed-ups that rest on it; "
    "results of the device were\ncompared with the CPU's on sampled items there.\n";

constexpr const char* kLegendOfCuda =
    "`cuda`: the same call as `ordinary` by CUDA; *of Vulkan*: `ordinary`'s time over its own.\n";

/// Speed-ups over the CPU, and of CUDA over Vulkan.
std::string speedups(const PathResult& path) {
    if (path.path == ReportPath::cpu || path.speedup <= 0) return {};
    return speedup_text(path) +
           (path.over_vulkan > 0 ? "; " + factor(path.over_vulkan) + " of Vulkan" : std::string());
}

/// Shares of what memory or copies allow, and of what multiplications allow if these take longer.
std::string ceilings(const PathResult& path) {
    if (path.ceiling_s <= 0) return {};
    return percent(path.of_ceiling()) +
           (path.arithmetic_s > path.ceiling_s ? "; multiply " + percent(path.of_floor()) : std::string());
}

std::string table_of(const KernelResult& result, std::size_t process) {
    std::string out = row({"batch", "path", "median", "std", "min", "max", result.rate_unit(process) + "/s",
                           "bandwidth", "speed-up", "of ceiling", "of resident"}) +
                      "|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n";
    for (const SizeResult& size : result.sizes) {
        if (size.process != process) continue;
        if (!size.common_failure().empty()) {
            out += row({grouped(size.batch), "all", "did not run", "", "", "", "", "", "", "", ""});
            continue;
        }
        for (const PathResult& path : size.paths) {
            if (!path.ran()) {
                out += row({grouped(size.batch), to_string(path.path), "did not run", "", "", "", "", "", "",
                            "", ""});
                continue;
            }
            const Statistics& s = path.timing.seconds;
            if (path.extrapolated()) {
                out += row({grouped(size.batch), "cpu, extrapolated", "~" + duration(s.median), "", "", "",
                            "~" + si(size.per_s(path)), "~" + rate(size.gb_per_s(path)), "", "", ""});
                continue;
            }
            const std::string threads = path.threads == 0 ? "" : ", " + threads_text(path.threads);
            out +=
                row({grouped(size.batch), to_string(path.path) + threads, duration(s.median), duration(s.std),
                     duration(s.min), duration(s.max), si(size.per_s(path)), rate(size.gb_per_s(path)),
                     speedups(path), ceilings(path), path.of_resident > 0 ? percent(path.of_resident) : ""});
        }
    }
    return out;
}

std::string table_of_splits(const KernelResult& result) {
    if (result.splits.empty()) return {};
    std::string out =
        "\n### Where the time goes\n\n"
        "Of calls of their own from ordinary memory under a profile, made after those timed above (*timed*: "
        "their\nmedian); times are a call's, shares are of *call*. Stages overlap, so that their busy times "
        "may add up to more\nthan the call. *simultaneous*: share of the device's busy time in which two of "
        "its "
        "stages ran. *none*: share of the\ncall in which no stage ran: checks, plans, submissions, waits."
        "\n\n" +
        row({"process", "batch", "calls", "call", "timed", "busy, overlapping", "simultaneous", "none"}) +
        "|---|---:|---:|---:|---:|---|---:|---:|\n";
    for (const StageSplit& split : result.splits) {
        std::string stages;
        for (const StageTime& stage : split.stages)
            stages += (stages.empty() ? "" : ", ") + stage.stage + " " + duration(stage.busy_s) + " (" +
                      percent(stage.busy_s / split.wall_s) + ")";
        out += row({result.processes[split.process].name, grouped(split.batch), std::to_string(split.calls),
                    duration(split.wall_s), duration(split.timed_s), stages, percent(split.overlap),
                    split.idle ? percent(*split.idle) : "unknown"});
    }
    return out;
}

/// "3.2x at 10, 3.3x at 100": the last byte of a small batch may not be full.
std::string compression_of(const KernelResult& result, std::size_t process) {
    std::string text, last;
    for (const SizeResult& size : result.sizes) {
        if (size.process != process || size.compression <= 0) continue;
        const std::string ratio = factor(size.compression);
        if (ratio == last) continue;
        text += (text.empty() ? "" : ", ") + ratio + " from " + grouped(size.batch) + " on";
        last = ratio;
    }
    return text;
}

std::string section_of(const KernelResult& result) {
    std::string out = "\n## " + result.kernel + "\n\n";
    for (const auto& [name, value] : result.configuration) out += "- " + name + ": " + value + "\n";
    for (std::size_t p = 0; p < result.processes.size(); ++p) {
        const ProcessResult& process = result.processes[p];
        out += "\n### " + process.name + "\n\n";
        if (const std::string ratios = compression_of(result, p); !ratios.empty())
            out += "Compression " + ratios + ": from the bytes written, statuses included. ";
        if (process.memory_gb_per_s > 0)
            out += "Ceilings: upload " + rate(process.upload_gb_per_s) + ", download " +
                   rate(process.download_gb_per_s) + ", both simultaneously in this proportion " +
                   rate(process.concurrent_gb_per_s) + ", device memory " + rate(process.memory_gb_per_s) +
                   ".\n\n";
        out += table_of(result, p);
    }
    return out + table_of_splits(result);
}

}  // namespace

std::string markdown_text(const Report& report) {
    std::string out = "# " + report.title + "\n\n" + report.stamp + " UTC\n\n" + section_of_machine(report) +
                      "\n## Findings\n\n";
    for (const KernelResult& result : report.kernels)
        for (const std::string& finding : findings(result)) out += "- " + finding + "\n";
    for (const std::string& note : report.notes) out += "- " + note + "\n";
    if (const std::vector<std::string> all = advice(report); !all.empty()) {
        out += "\n## Advice\n\n";
        for (const std::string& line : all) out += "- " + line + "\n";
    }
    out += std::string("\n") + kLegend;
    if (!report.machine.cuda.empty()) out += kLegendOfCuda;
    for (const KernelResult& result : report.kernels) out += section_of(result);
    out += "\n## Files\n\n";
    for (const std::string& file : report.files)
        out +=
            file.ends_with(".png") ? "- ![" + file + "](" + file + ")\n" : "- [" + file + "](" + file + ")\n";
    return out;
}

}  // namespace weft::tool
