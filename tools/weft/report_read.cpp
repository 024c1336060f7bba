// SPDX-License-Identifier: Apache-2.0
#include "report_read.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <nlohmann/json.hpp>

namespace weft::tool {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void refuse(const std::string& what) {
    throw std::invalid_argument(what);
}

/// null is what is not known, which is 0 in a report.
double known(const Json& json, const char* key) {
    const auto found = json.find(key);
    return found == json.end() || found->is_null() ? 0 : found->get<double>();
}

/// A number of the report must be one that its arithmetic may meet.
double at_least_0(const Json& json, const char* key) {
    const double value = known(json, key);
    if (!(value >= 0)) refuse(std::string("not results of weft profile: ") + key + " is below 0");
    return value;
}

PathResult path_of(const Json& json) {
    PathResult path;
    const auto name = json.at("path").get<std::string>();
    const auto found = std::find_if(kReportPaths.begin(), kReportPaths.end(),
                                    [&](ReportPath p) { return name == to_string(p); });
    if (found == kReportPaths.end()) refuse("no such path (got " + name + ")");
    path.path = *found;
    if (json.contains("failure")) {
        path.failure = json.at("failure").get<std::string>();
        if (path.failure.empty()) refuse("not results of weft profile: a failure without a reason");
        return path;
    }
    const double median = json.at("median_s").get<double>();
    if (!(median > 0) || !std::isfinite(median))
        refuse("not results of weft profile: median_s is not a time above 0");
    path.timing.seconds = statistics(json.at("all_s").get<std::vector<double>>());
    if (!(path.timing.seconds.min > 0)) refuse("not results of weft profile: a time that is not above 0");
    path.timing.calls = json.at("calls_a_sample").get<std::size_t>();
    path.verified = json.at("verified").get<bool>();
    path.threads = json.value("threads", 0u);
    path.ceiling_s = at_least_0(json, "ceiling_s");
    return path;
}

std::size_t process_of(const KernelResult& result, const Json& json) {
    const auto name = json.at("process").get<std::string>();
    for (std::size_t p = 0; p < result.processes.size(); ++p)
        if (result.processes[p].name == name) return p;
    refuse("no such process (got " + name + ")");
}

SizeResult size_of(const KernelResult& result, const Json& json) {
    SizeResult size;
    size.process = process_of(result, json);
    size.batch = json.at("batch_size").get<std::uint64_t>();
    if (size.batch == 0) refuse("not results of weft profile: batch_size is 0");
    size.bytes_in = json.at("bytes_in").get<std::uint64_t>();
    size.bytes_out = json.at("bytes_out").get<std::uint64_t>();
    size.items = json.at("items").get<double>();
    if (!(size.items > 0)) refuse("not results of weft profile: items is not above 0");
    size.compression = at_least_0(json, "compression_ratio");
    for (const Json& path : json.at("paths")) size.paths.push_back(path_of(path));
    size.compare();
    return size;
}

ProcessResult ceilings_of(const Json& json) {
    ProcessResult process;
    process.name = json.at("process").get<std::string>();
    process.upload_gb_per_s = at_least_0(json, "upload_gb_per_s");
    process.download_gb_per_s = at_least_0(json, "download_gb_per_s");
    process.concurrent_gb_per_s = at_least_0(json, "concurrent_gb_per_s");
    process.memory_gb_per_s = at_least_0(json, "memory_gb_per_s");
    return process;
}

StageSplit split_of(const KernelResult& result, const Json& json) {
    StageSplit split;
    split.process = process_of(result, json);
    split.batch = json.at("batch_size").get<std::uint64_t>();
    split.calls = json.at("calls").get<std::size_t>();
    split.wall_s = json.at("wall_s").get<double>();
    split.timed_s = json.at("timed_median_s").get<double>();
    split.overlap = json.at("overlap").get<double>();
    if (!json.at("idle").is_null()) split.idle = json.at("idle").get<double>();
    for (const auto& [stage, busy_s] : json.at("busy_s").items())
        split.stages.push_back({stage, busy_s.get<double>()});
    return split;
}

KernelResult kernel_of(const Json& json) {
    KernelResult result;
    result.kernel = json.at("kernel").get<std::string>();
    // It becomes a part of names of files.
    const bool plain = result.kernel.find_first_not_of("abcdefghijklmnopqrstuvwxyz_-") == std::string::npos;
    if (result.kernel.empty() || !plain) refuse("no name of a kernel (got " + result.kernel + ")");
    result.unit = json.at("unit").get<std::string>();
    result.rate_unit = json.at("rate_unit").get<std::string>();
    for (const auto& [name, value] : json.at("configuration").items())
        result.configuration.emplace_back(name, value.get<std::string>());
    for (const Json& process : json.at("ceilings")) result.processes.push_back(ceilings_of(process));
    for (const Json& size : json.at("results")) result.sizes.push_back(size_of(result, size));
    if (result.sizes.empty()) refuse("not results of weft profile: results is empty");
    for (const Json& split : json.at("stages")) result.splits.push_back(split_of(result, split));
    return result;
}

Machine machine_of(const Json& json) {
    const Json& m = json.at("machine");
    return {m.at("device").get<std::string>(),     m.at("driver").get<std::string>(),
            m.at("type").get<std::string>(),       m.at("uuid").get<std::string>(),
            m.at("cpu").get<std::string>(),        m.at("cpu_threads").get<unsigned>(),
            json.at("backend").get<std::string>(), m.value("cuda", std::string())};
}

std::string machine_text(const Machine& m) {
    return m.device + ", driver " + m.driver + ", " + m.cpu + ", " + std::to_string(m.threads) +
           " threads, backend " + m.backend + (m.cuda.empty() ? "" : ", " + m.cuda);
}

Report report_of(const std::string& name, const Json& json) {
    Report report;
    report.machine = machine_of(json);
    report.version = json.at("weft").get<std::string>();
    report.repeats = {json.at("repeats").get<std::size_t>(), json.at("warmup").get<std::size_t>(),
                      json.at("max_seconds").get<double>()};
    report.batch_sizes = json.at("batch_sizes").get<std::vector<std::uint64_t>>();
    report.kernels.push_back(kernel_of(json));
    report.notes.push_back(report.kernels[0].kernel + " is that of " + name + ", measured " +
                           json.at("stamp").get<std::string>() + " UTC by weft " + report.version + ", " +
                           std::to_string(report.repeats.repeats) + " runs after " +
                           std::to_string(report.repeats.warmup) + ".");
    return report;
}

}  // namespace

void add_results(Report& report, const std::string& name, std::string_view text) {
    Report one;
    try {
        one = report_of(name, Json::parse(text));
    } catch (const nlohmann::json::exception& error) {
        refuse(std::string("not results of weft profile (") + error.what() + ")");
    }
    if (report.kernels.empty()) {
        report.machine = one.machine;
        report.version = one.version;
        report.repeats = one.repeats;
    }
    const std::string got = machine_text(one.machine), need = machine_text(report.machine);
    if (got != need) refuse("of another machine (got " + got + ", need " + need + ")");
    for (const KernelResult& kernel : report.kernels)
        if (kernel.kernel == one.kernels[0].kernel)
            refuse("a kernel that another file has too (got " + kernel.kernel + ", need each once)");
    report.kernels.push_back(std::move(one.kernels[0]));
    report.notes.push_back(std::move(one.notes[0]));
    const Repeats &a = report.repeats, &b = one.repeats;
    if (a.repeats != b.repeats || a.warmup != b.warmup || a.max_seconds != b.max_seconds)
        report.repeats.repeats = 0;  // the notes have them
    report.batch_sizes.insert(report.batch_sizes.end(), one.batch_sizes.begin(), one.batch_sizes.end());
    std::sort(report.batch_sizes.begin(), report.batch_sizes.end());
    report.batch_sizes.erase(std::unique(report.batch_sizes.begin(), report.batch_sizes.end()),
                             report.batch_sizes.end());
}

}  // namespace weft::tool
