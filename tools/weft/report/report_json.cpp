// SPDX-License-Identifier: Apache-2.0
#include "cli/print_json.hpp"
#include "report/report_advice.hpp"
#include "report/report_files.hpp"
#include "report/report_findings.hpp"

namespace weft::tool {
namespace {

Json json_of(const std::string& unit, const SizeResult& size, const PathResult& path) {
    Json json{{"path", to_string(path.path)}};
    if (!path.ran()) {
        json["failure"] = path.failure;
        return json;
    }
    const Statistics& s = path.timing.seconds;
    json["median_s"] = s.median;
    if (path.path == ReportPath::cpu) json["extrapolated"] = path.extrapolated();
    if (path.extrapolated()) {
        json["extrapolated_from"] = path.extrapolated_from;
        json[unit + "_per_s"] = size.per_s(path);
        json["gb_per_s"] = size.gb_per_s(path);
        json["verified"] = path.verified;
        return json;
    }
    json["mean_s"] = s.mean;
    json["std_s"] = s.std;
    json["min_s"] = s.min;
    json["max_s"] = s.max;
    json["p95_s"] = s.p95;
    json["all_s"] = s.all;
    json["calls_a_sample"] = path.timing.calls;
    json[unit + "_per_s"] = size.per_s(path);
    json["gb_per_s"] = size.gb_per_s(path);
    json["verified"] = path.verified;
    if (path.path == ReportPath::cpu && path.threads != 0) json["threads"] = path.threads;
    if (path.path == ReportPath::cpu) return json;
    if (path.verified_items > 0) json["verified_items"] = path.verified_items;
    json["speedup"] = path.speedup > 0 ? Json(path.speedup) : Json();
    json["speedup_extrapolated"] = path.over_extrapolated;
    if (path.path == ReportPath::cuda)
        json["over_vulkan"] = path.over_vulkan > 0 ? Json(path.over_vulkan) : Json();
    json["ceiling_s"] = path.ceiling_s > 0 ? Json(path.ceiling_s) : Json();
    json["of_ceiling"] = path.ceiling_s > 0 ? Json(path.of_ceiling()) : Json();
    if (path.of_resident > 0) json["of_resident"] = path.of_resident;
    if (path.arithmetic_s <= 0) return json;
    json["arithmetic_s"] = path.arithmetic_s;
    json["of_floor"] = path.of_floor();
    json["bound"] = path.arithmetic_s > path.ceiling_s ? "multiply" : "memory";
    return json;
}

Json json_of(const KernelResult& result, const SizeResult& size) {
    Json json{{"process", result.processes[size.process].name},
              {"batch_size", size.batch},
              {"bytes_in", size.bytes_in},
              {"bytes_out", size.bytes_out},
              {"items", size.items}};
    if (size.compression > 0) json["compression_ratio"] = size.compression;
    json["paths"] = Json::array();
    for (const PathResult& path : size.paths)
        json["paths"].push_back(json_of(result.rate_unit(size.process), size, path));
    return json;
}

Json json_of(const ProcessResult& process) {
    Json json{{"process", process.name},
              {"rate_unit", process.rate_unit},
              {"upload_gb_per_s", process.upload_gb_per_s},
              {"download_gb_per_s", process.download_gb_per_s},
              {"concurrent_gb_per_s", process.concurrent_gb_per_s},
              {"memory_gb_per_s", process.memory_gb_per_s}};
    return json;
}

Json json_of(const KernelResult& result, const StageSplit& split) {
    Json stages = Json::object();
    for (const StageTime& stage : split.stages) stages[stage.stage] = stage.busy_s;
    return {{"process", result.processes[split.process].name},
            {"batch_size", split.batch},
            {"run", "calls of their own under a profile, after those timed"},
            {"calls", split.calls},
            {"wall_s", split.wall_s},
            {"timed_median_s", split.timed_s},
            {"overlap", split.overlap},
            {"idle", split.idle ? Json(*split.idle) : Json()},
            {"busy_s", std::move(stages)}};
}

}  // namespace

std::string json_text(const Report& report, const KernelResult& result) {
    Json json{
        {"kernel", result.kernel}, {"unit", result.unit}, {"weft", report.version}, {"stamp", report.stamp}};
    json["configuration"] = Json::object();
    for (const auto& [name, value] : result.configuration) json["configuration"][name] = value;
    json["machine"] = {{"device", report.machine.device}, {"type", report.machine.type},
                       {"driver", report.machine.driver}, {"uuid", report.machine.uuid},
                       {"cpu", report.machine.cpu},       {"cpu_threads", report.machine.threads}};
    if (!report.machine.cuda.empty()) json["machine"]["cuda"] = report.machine.cuda;
    if (!report.machine.tuning.empty()) json["machine"]["tuning"] = report.machine.tuning;
    json["backend"] = report.machine.backend;
    json["repeats"] = report.repeats.repeats;
    json["max_seconds"] = report.repeats.max_seconds;
    json["warmup"] = report.repeats.warmup;
    if (result.stopped) json["stopped"] = true;
    json["batch_sizes"] = report.batch_sizes;
    for (const ProcessResult& process : result.processes) json["ceilings"].push_back(json_of(process));
    json["results"] = Json::array();
    for (const SizeResult& size : result.sizes) json["results"].push_back(json_of(result, size));
    json["stages"] = Json::array();
    for (const StageSplit& split : result.splits) json["stages"].push_back(json_of(result, split));
    json["findings"] = findings(result);
    json["advice"] = advice(result);
    return json_text(json);
}

}  // namespace weft::tool
