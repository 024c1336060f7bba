// SPDX-License-Identifier: Apache-2.0
#include "report/report_read.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "cli/print_json.hpp"

namespace weft::tool {
namespace {

[[noreturn]] void refuse(const std::string& what) {
    throw std::invalid_argument(what);
}

/// null stands for an unknown figure, which is 0 in a report.
double known(const Json& json, const char* key) {
    const auto found = json.find(key);
    return found == json.end() || found->is_null() ? 0 : found->get<double>();
}

/// Refuses numbers that the arithmetic of a report cannot use.
double at_least_0(const Json& json, const char* key) {
    const double value = known(json, key);
    if (!(value >= 0) || !std::isfinite(value))
        refuse(std::string("not results of weft profile: ") + key + " is no number from 0 on");
    return value;
}

/// JSON's own conversions wrap negative numbers and truncate fractions.
std::uint64_t whole(const Json& value, const char* key, std::uint64_t least, std::uint64_t most) {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() < least ||
        value.get<std::uint64_t>() > most)
        // Values that nest deeply would take a stack of that depth to print.
        refuse(std::string("not results of weft profile: ") + key + " is out of range (got " +
               (value.is_structured() ? value.type_name() : value.dump()) + ", need " +
               std::to_string(least) + " to " + std::to_string(most) + ")");
    return value.get<std::uint64_t>();
}
constexpr std::uint64_t kMostItems = std::uint64_t{1} << 48, kMostBytes = std::uint64_t{1} << 60,
                        kMostRuns = 1'000'000'000, kMostThreads = 1'000'000;

/// A report consists of lines, so its texts must not contain control characters.
std::string line(const Json& value, const char* key) {
    auto text = value.get<std::string>();
    if (std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
        refuse(std::string("not results of weft profile: ") + key + " has control characters");
    return text;
}

PathResult path_of(const Json& json) {
    PathResult path;
    const auto name = json.at("path").get<std::string>();
    const auto found = std::find_if(kReportPaths.begin(), kReportPaths.end(),
                                    [&](ReportPath p) { return name == to_string(p); });
    if (found == kReportPaths.end()) refuse("no such path (got " + name + ")");
    path.path = *found;
    if (json.contains("failure")) {
        path.failure = line(json.at("failure"), "failure");
        if (path.failure.empty()) refuse("not results of weft profile: a failure without a reason");
        return path;
    }
    const double median = json.at("median_s").get<double>();
    if (!(median > 0) || !std::isfinite(median))
        refuse("not results of weft profile: median_s is not a time above 0");
    path.verified = json.at("verified").get<bool>();
    if (path.path == ReportPath::cpu && json.contains("extrapolated_from")) {
        for (const Json& size : json.at("extrapolated_from"))
            path.extrapolated_from.push_back(whole(size, "extrapolated_from", 1, kMostItems));
        if (!path.extrapolated()) refuse("not results of weft profile: extrapolated_from is empty");
        path.timing.seconds = statistics({median});
        return path;
    }
    if (json.contains("verified_items"))
        path.verified_items = whole(json.at("verified_items"), "verified_items", 1, kMostItems);
    path.timing.seconds = statistics(json.at("all_s").get<std::vector<double>>());
    if (!(path.timing.seconds.min > 0)) refuse("not results of weft profile: a time that is not above 0");
    path.timing.calls = whole(json.at("calls_a_sample"), "calls_a_sample", 1, kMostRuns);
    if (json.contains("threads"))
        path.threads = static_cast<unsigned>(whole(json.at("threads"), "threads", 0, kMostThreads));
    path.ceiling_s = at_least_0(json, "ceiling_s");
    path.arithmetic_s = at_least_0(json, "arithmetic_s");
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
    size.batch = whole(json.at("batch_size"), "batch_size", 1, kMostItems);
    size.bytes_in = whole(json.at("bytes_in"), "bytes_in", 0, kMostBytes);
    size.bytes_out = whole(json.at("bytes_out"), "bytes_out", 0, kMostBytes);
    size.items = json.at("items").get<double>();
    if (!(size.items > 0)) refuse("not results of weft profile: items is not above 0");
    size.compression = at_least_0(json, "compression_ratio");
    for (const Json& path : json.at("paths")) {
        PathResult read = path_of(path);
        for (const PathResult& other : size.paths)
            if (other.path == read.path)
                refuse(std::string("not results of weft profile: a path twice (got ") + to_string(read.path) +
                       ")");
        size.paths.push_back(std::move(read));
    }
    const bool device = std::any_of(size.paths.begin(), size.paths.end(), [](const PathResult& path) {
        return path.ran() && path.path != ReportPath::cpu;
    });
    for (const PathResult& path : size.paths)  // no device confirms a result that only the CPU has
        if (path.ran() && !path.verified && (device || path.path != ReportPath::cpu))
            refuse("not results of weft profile: a time of results that were not verified");
    size.compare();
    return size;
}

/// `all`: the whole file, because files of weft 0.1 have one unit of rates for all processes.
ProcessResult ceilings_of(const Json& json, const Json& all) {
    ProcessResult process;
    process.name = line(json.at("process"), "process");
    process.upload_gb_per_s = at_least_0(json, "upload_gb_per_s");
    process.download_gb_per_s = at_least_0(json, "download_gb_per_s");
    process.concurrent_gb_per_s = at_least_0(json, "concurrent_gb_per_s");
    process.memory_gb_per_s = at_least_0(json, "memory_gb_per_s");
    process.rate_unit =
        line(json.contains("rate_unit") ? json.at("rate_unit") : all.at("rate_unit"), "rate_unit");
    return process;
}

StageSplit split_of(const KernelResult& result, const Json& json) {
    StageSplit split;
    split.process = process_of(result, json);
    split.batch = whole(json.at("batch_size"), "batch_size", 1, kMostItems);
    split.calls = whole(json.at("calls"), "calls", 1, kMostRuns);
    split.wall_s = at_least_0(json, "wall_s");
    split.timed_s = at_least_0(json, "timed_median_s");
    split.overlap = at_least_0(json, "overlap");
    if (!json.at("idle").is_null()) split.idle = at_least_0(json, "idle");
    for (const auto& entry : json.at("busy_s").items())
        split.stages.push_back(
            {line(Json(entry.key()), "busy_s"), at_least_0(json.at("busy_s"), entry.key().c_str())});
    return split;
}

KernelResult kernel_of(const Json& json) {
    KernelResult result;
    result.kernel = json.at("kernel").get<std::string>();
    // The name becomes part of file names.
    const bool plain = result.kernel.find_first_not_of("abcdefghijklmnopqrstuvwxyz_-") == std::string::npos;
    if (result.kernel.empty() || !plain) refuse("no name of a kernel (got " + result.kernel + ")");
    result.unit = line(json.at("unit"), "unit");
    for (const auto& [name, value] : json.at("configuration").items())
        result.configuration.emplace_back(line(Json(name), "configuration"), line(value, "configuration"));
    for (const Json& process : json.at("ceilings")) result.processes.push_back(ceilings_of(process, json));
    for (const Json& size : json.at("results")) result.sizes.push_back(size_of(result, size));
    result.stopped = json.contains("stopped") && json.at("stopped").get<bool>();
    if (result.sizes.empty()) refuse("not results of weft profile: results is empty");
    for (const Json& split : json.at("stages")) result.splits.push_back(split_of(result, split));
    return result;
}

Machine machine_of(const Json& json) {
    const Json& m = json.at("machine");
    const auto text = [&](const char* key) { return m.contains(key) ? line(m.at(key), key) : std::string(); };
    return {line(m.at("device"), "device"),
            line(m.at("driver"), "driver"),
            line(m.at("type"), "type"),
            line(m.at("uuid"), "uuid"),
            line(m.at("cpu"), "cpu"),
            static_cast<unsigned>(whole(m.at("cpu_threads"), "cpu_threads", 1, kMostThreads)),
            line(json.at("backend"), "backend"),
            text("cuda"),
            text("tuning")};
}

std::string machine_text(const Machine& m) {
    return m.device + ", driver " + m.driver + ", " + m.cpu + ", " + std::to_string(m.threads) +
           " threads, backend " + m.backend + (m.cuda.empty() ? "" : ", " + m.cuda);
}

Report report_of(const std::string& name, const Json& json) {
    Report report;
    report.machine = machine_of(json);
    report.version = line(json.at("weft"), "weft");
    report.repeats = {whole(json.at("repeats"), "repeats", 1, kMostRuns),
                      whole(json.at("warmup"), "warmup", 0, kMostRuns), at_least_0(json, "max_seconds")};
    for (const Json& size : json.at("batch_sizes"))
        report.batch_sizes.push_back(whole(size, "batch_sizes", 1, kMostItems));
    report.kernels.push_back(kernel_of(json));
    report.notes.push_back(report.kernels[0].kernel + " is that of " + name + ", measured " +
                           line(json.at("stamp"), "stamp") + " UTC by weft " + report.version + ", " +
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
        report.repeats.repeats = 0;  // the notes state them
    report.batch_sizes.insert(report.batch_sizes.end(), one.batch_sizes.begin(), one.batch_sizes.end());
    std::sort(report.batch_sizes.begin(), report.batch_sizes.end());
    report.batch_sizes.erase(std::unique(report.batch_sizes.begin(), report.batch_sizes.end()),
                             report.batch_sizes.end());
}

}  // namespace weft::tool
