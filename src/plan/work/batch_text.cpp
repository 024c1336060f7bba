// SPDX-License-Identifier: Apache-2.0
#include "plan/work/batch_text.hpp"

#include <cstdio>

#include "base/log.hpp"

namespace weft::core {
namespace {

std::string counted(std::uint64_t count, const char* one, const char* many) {
    return std::to_string(count) + " " + (count == 1 ? one : many);
}

const char* chunk_reason(const BatchSettings& settings) {
    return settings.chunk_exact ? "set" : settings.chunk_bytes != 0 ? "tuned" : "planned";
}

}  // namespace

std::string batch_text(std::string_view program, const BatchReport& report, const BatchSettings& settings,
                       const char* path_reason) {
    std::string text = "batch of \"" + std::string(program) + "\": " + counted(report.jobs, "job", "jobs") +
                       " done in " + ms_text(report.wall_s);
    if (report.bundles == 0) return text + ", nothing ran on the device";
    char rate[32];
    std::snprintf(rate, sizeof rate, ", %.3g GB/s", report.gb_per_s());
    text += rate;
    text += "; " + counted(report.chunks, "chunk", "chunks") + " of at most " +
            counted(report.chunk_elements, "element", "elements") + " (" + chunk_reason(settings) + ") in " +
            counted(report.bundles, "bundle", "bundles") + "; path " + to_string(report.path) + " (" +
            path_reason + ")" + (report.mixed_paths ? " and others" : "") + "; " +
            counted(report.ring_slots, "slot", "slots");
    if (settings.mode == BatchMode::sequential) text += " (sequential)";
    if (!report.host_memory.empty()) text += "; page-locked memory by " + report.host_memory;
    return text + "; " + report.queues;
}

}  // namespace weft::core
