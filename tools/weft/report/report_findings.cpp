// SPDX-License-Identifier: Apache-2.0
#include "report/report_findings.hpp"

#include <algorithm>

#include "cli/figures.hpp"

namespace weft::tool {
namespace {

constexpr ReportPath kDevicePaths[] = {ReportPath::ordinary, ReportPath::page_locked, ReportPath::resident,
                                       ReportPath::cuda};

const char* from(ReportPath path) {
    return path == ReportPath::ordinary      ? "from ordinary memory"
           : path == ReportPath::page_locked ? "from page-locked memory"
           : path == ReportPath::cuda        ? "by CUDA from ordinary memory"
                                             : "on resident data";
}

std::string sentence_of_wins(const KernelResult& result, std::size_t process) {
    std::string text;
    std::uint64_t least = ~std::uint64_t{0};
    for (const SizeResult& size : result.sizes) least = std::min(least, size.batch);
    for (const ReportPath path : kDevicePaths) {
        const Best best = best_of(result, process, path, BestBy::speedup);
        if (best.size == nullptr || best.path->speedup == 0) continue;
        const auto first = wins_from(result, process, path);
        text += text.empty() ? "" : "; ";
        if (first)
            text +=
                std::string(from(path)) + " the device beats the CPU " +
                (*first == least ? "at every size" : "from " + grouped(*first) + " " + result.unit + " on") +
                ", by up to " + speedup_text(*best.path) + " (at " + grouped(best.size->batch) + ")";
        else if (best.path->speedup > 1)
            text += std::string(from(path)) +
                    " the device is ahead of the CPU at some sizes only, by up to " +
                    speedup_text(*best.path) + " (at " + grouped(best.size->batch) + ")";
        else
            text += std::string(from(path)) + " the CPU stays ahead; the device comes to at most " +
                    speedup_text(*best.path) + " of it (at " + grouped(best.size->batch) + ")";
    }
    return text.empty() ? text : result.label(process) + ": " + text + ".";
}

std::string sentence_of_ceiling(const KernelResult& result, std::size_t process) {
    std::string text;
    for (const ReportPath path : kDevicePaths) {
        const Best best = best_of(result, process, path, BestBy::ceiling);
        if (best.size == nullptr || best.path->of_ceiling() == 0) continue;
        text += (text.empty() ? "" : "; ") + std::string(from(path)) + " " +
                percent(best.path->of_ceiling()) + " of what " +
                (path == ReportPath::resident ? "memory allows" : "copies allow") + " (at " +
                grouped(best.size->batch) + ")";
    }
    return text.empty() ? text : result.label(process) + ": at best " + text + ".";
}

std::string sentence_of_cuda(const KernelResult& result, std::size_t process) {
    const SizeResult *least = nullptr, *most = nullptr;
    const auto over = [](const SizeResult& size) { return size.of(ReportPath::cuda)->over_vulkan; };
    for (const SizeResult& size : result.sizes) {
        if (size.process != process || size.of(ReportPath::cuda) == nullptr || over(size) <= 0) continue;
        if (least == nullptr || over(size) < over(*least)) least = &size;
        if (most == nullptr || over(size) > over(*most)) most = &size;
    }
    if (most == nullptr) return {};
    const auto text = [&](const SizeResult& size) {
        return factor(over(size)) + " (at " + grouped(size.batch) + ")";
    };
    return result.label(process) + ": from ordinary memory CUDA has " +
           (least == most ? "" : text(*least) + " to ") + text(*most) + " the speed of Vulkan.";
}

std::string sentence_of_rate(const KernelResult& result, std::size_t process) {
    Best most;
    ReportPath path = ReportPath::cpu;
    for (const ReportPath p : kReportPaths) {
        const Best best = best_of(result, process, p, BestBy::rate);
        if (best.size == nullptr) continue;
        if (most.size != nullptr && most.size->per_s(*most.path) >= best.size->per_s(*best.path)) continue;
        most = best;
        path = p;
    }
    if (most.size == nullptr) return {};
    return result.label(process) + ": highest rate " + si(most.size->per_s(*most.path)) + " " +
           result.rate_unit(process) + "/s, " + (path == ReportPath::cpu ? "on the CPU" : from(path)) +
           " at " + grouped(most.size->batch) + ".";
}

/// A baseline that is slower than this processor can be makes the device look better than it is.
std::string sentence_of_baseline(const KernelResult& result, std::size_t process) {
    constexpr double kFalls = 0.8, kScatters = 0.2;
    std::string falls, scatters;
    const SizeResult* fastest = nullptr;  // among the smaller sizes
    const auto rate = [](const SizeResult& size) { return size.per_s(*size.of(ReportPath::cpu)); };
    for (const SizeResult& size : result.sizes) {
        const PathResult* cpu = size.process == process ? size.of(ReportPath::cpu) : nullptr;
        if (cpu == nullptr || cpu->extrapolated()) continue;
        if (fastest != nullptr && rate(size) < kFalls * rate(*fastest))
            falls += (falls.empty() ? "" : ", ") + si(rate(size)) + " " + result.rate_unit(process) +
                     "/s at " + grouped(size.batch) + " after " + si(rate(*fastest)) + " at " +
                     grouped(fastest->batch);
        if (fastest == nullptr || rate(size) > rate(*fastest)) fastest = &size;
        const Statistics& s = cpu->timing.seconds;
        if (s.std > kScatters * s.median)
            scatters +=
                (scatters.empty() ? "" : ", ") + percent(s.std / s.median) + " at " + grouped(size.batch);
    }
    std::string text;
    if (!falls.empty()) text = "the CPU baseline falls with size (" + falls + ")";
    if (!scatters.empty())
        text += (text.empty() ? "the CPU baseline" : " and") + std::string(" scatters (std over median ") +
                scatters + ")";
    return text.empty() ? text
                        : result.label(process) + ": " + text + "; take the speed-ups there with care.";
}

std::string sentence_of_split(const KernelResult& result, const StageSplit& split) {
    std::vector<StageTime> stages = split.stages;
    if (stages.empty() || split.wall_s <= 0) return {};
    std::stable_sort(stages.begin(), stages.end(),
                     [](const StageTime& a, const StageTime& b) { return a.busy_s > b.busy_s; });
    std::string text;
    for (const StageTime& stage : stages)
        text += (text.empty() ? "" : ", ") + stage.stage + " " + percent(stage.busy_s / split.wall_s);
    if (split.idle) text += ", no stage " + percent(*split.idle);
    return result.label(split.process) + ": at " + grouped(split.batch) + " " + result.unit +
           " from ordinary memory, of the time of profiled calls (" + duration(split.wall_s) +
           ") stages were busy, some simultaneously: " + text + ".";
}

std::string sentence_of_extrapolation(const KernelResult& result, std::size_t process) {
    std::string text;
    for (const SizeResult& size : result.sizes) {
        const PathResult* cpu = size.process == process ? size.of(ReportPath::cpu) : nullptr;
        if (cpu == nullptr || !cpu->extrapolated()) continue;
        std::string from, items;
        for (const std::uint64_t batch : cpu->extrapolated_from)
            from += (from.empty() ? "" : " and ") + grouped(batch);
        for (const PathResult& path : size.paths)
            if (path.verified_items > 0)
                items = "; results there were compared on " + grouped(path.verified_items) + " sampled " +
                        result.unit;
        text += (text.empty() ? "" : "; ") + ("at " + grouped(size.batch)) + " from what " + from + " took" +
                items;
    }
    return text.empty() ? text
                        : result.label(process) +
                              ": the CPU's time is extrapolated, and so are speed-ups (~), " + text + ".";
}

void add_failures(const KernelResult& result, std::vector<std::string>& out) {
    for (const SizeResult& size : result.sizes) {
        const std::string at = result.label(size.process) + ": " + grouped(size.batch) + " " + result.unit;
        const std::string common = size.common_failure();
        if (!common.empty()) out.push_back(at + " did not run: " + common + ".");
        if (!common.empty()) continue;
        for (const PathResult& path : size.paths)
            if (!path.ran())
                out.push_back(at + ", " + to_string(path.path) + ", did not run: " + path.failure + ".");
    }
}

}  // namespace

std::string speedup_text(const PathResult& path) {
    return (path.over_extrapolated ? "~" : "") + factor(path.speedup);
}

std::optional<std::uint64_t> wins_from(const KernelResult& result, std::size_t process, ReportPath path) {
    std::vector<const SizeResult*> sizes;
    for (const SizeResult& size : result.sizes)
        if (size.process == process && size.of(path) != nullptr && size.of(path)->speedup > 0)
            sizes.push_back(&size);
    std::sort(sizes.begin(), sizes.end(), [](auto* a, auto* b) { return a->batch > b->batch; });
    std::optional<std::uint64_t> first;
    for (const SizeResult* size : sizes) {
        if (size->of(path)->speedup <= 1) break;
        first = size->batch;
    }
    return first;
}

Best best_of(const KernelResult& result, std::size_t process, ReportPath path, BestBy value) {
    Best best;
    double most = -1;
    for (const SizeResult& size : result.sizes) {
        const PathResult* p = size.process == process ? size.of(path) : nullptr;
        if (p == nullptr || (value == BestBy::rate && p->extrapolated())) continue;
        if (value == BestBy::measured_speedup && p->over_extrapolated) continue;
        const double v = value == BestBy::rate      ? size.per_s(*p)
                         : value == BestBy::ceiling ? p->of_ceiling()
                                                    : p->speedup;
        if (v <= most) continue;
        most = v;
        best = {&size, p};
    }
    return best;
}

std::vector<std::string> findings(const KernelResult& result) {
    std::vector<std::string> all;
    const auto add = [&](std::string text) {
        if (!text.empty()) all.push_back(std::move(text));
    };
    for (std::size_t p = 0; p < result.processes.size(); ++p) {
        add(sentence_of_wins(result, p));
        add(sentence_of_cuda(result, p));
        add(sentence_of_rate(result, p));
        add(sentence_of_ceiling(result, p));
        add(sentence_of_baseline(result, p));
        add(sentence_of_extrapolation(result, p));
    }
    for (const StageSplit& split : result.splits) add(sentence_of_split(result, split));
    add_failures(result, all);
    return all;
}

}  // namespace weft::tool
