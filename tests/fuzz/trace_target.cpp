// SPDX-License-Identifier: Apache-2.0
// Names of any bytes, in traces and profiles: the JSON stays JSON, a line of a table stays a line.
#include <algorithm>
#include <string>

#include <nlohmann/json.hpp>

#include "fuzz/target.hpp"
#include "trace/profile_report.hpp"
#include "trace/trace_json.hpp"

using namespace weft_fuzz;
using namespace weft::core;

namespace {

TraceData data_of(const std::uint8_t* bytes, std::size_t size) {
    TraceData data;
    Choices choices(bytes, size);
    const std::size_t events = choices.of(8);
    for (std::size_t i = 0; i < events; ++i) {
        StageEvent stage;
        stage.stage = static_cast<weft::Stage>(choices.of(weft::kStages));
        stage.timed = choices.yes();
        stage.row = static_cast<TrackId>(choices.of(4));
        stage.jobs = static_cast<std::uint32_t>(choices.of(3));
        stage.job_name = static_cast<NameId>(choices.of(6));
        stage.program = static_cast<NameId>(choices.of(6));
        stage.stream = static_cast<NameId>(choices.of(6));
        stage.begin_ns = static_cast<std::int64_t>(choices.of(256));
        stage.end_ns = static_cast<std::int64_t>(choices.of(256));
        data.stages.push_back(stage);
        data.instants.push_back({static_cast<InstantEvent::Kind>(choices.of(4)),
                                 static_cast<NameId>(choices.of(6)), 5, choices.of(256), 7});
    }
    // The rest is names, which lines separate.
    std::string_view rest = choices.rest();
    data.names.emplace_back();
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('\n'), rest.size() - 1);
        data.names.emplace_back(rest.substr(0, end + 1));
        rest.remove_prefix(end + 1);
    }
    const auto in_names = [&](NameId& id) { id %= static_cast<NameId>(data.names.size()); };
    for (StageEvent& stage : data.stages)
        for (NameId* id : {&stage.job_name, &stage.program, &stage.stream}) in_names(*id);
    for (InstantEvent& instant : data.instants) in_names(instant.name);
    data.device = data.names.back();
    data.clock = data.names.front();
    data.end_ns = 1000;
    for (std::size_t i = 0; i < 4; ++i)
        data.rows.push_back({TraceTrack::queue, i % 2 == 0, data.names[i % data.names.size()]});
    return data;
}

std::string trace_of(const TraceData& data) {
    std::string text;
    write_trace_json(data, 42, [&](std::string_view part) { text += part; });
    return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    const TraceData data = data_of(bytes, size);
    const auto trace = nlohmann::json::parse(trace_of(data), nullptr, false);
    require(!trace.is_discarded() && trace.at("traceEvents").size() > data.rows.size(), "a trace is JSON");
    const weft::ProfileReport report = summarise(data);
    require(!nlohmann::json::parse(report.to_json(), nullptr, false).is_discarded(), "a profile is JSON");
    const std::string text = report.to_table();
    require(std::none_of(text.begin(), text.end(),
                         [](unsigned char c) { return (c < 0x20 && c != '\n') || c == 0x7f; }),
            "a table has no control characters");
    report.to_csv();
    return 0;
}
