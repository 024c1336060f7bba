// SPDX-License-Identifier: Apache-2.0
#include "vulkan/engine/backend_state.hpp"

#include <utility>

#include "host/numa_nodes.hpp"
#include "trace/trace_file.hpp"

namespace weft::core {

HostFacts host_facts() {
    const CpuSet usable = usable_cpus();
    HostFacts facts;
    facts.cores = usable_cores();
    for (const NumaNode& node : numa_nodes())
        facts.nodes.push_back({node.node, static_cast<std::uint32_t>(common_cpus(node.cpus, usable).size())});
    return facts;
}

BackendState::BackendState(std::shared_ptr<Context> context, DeviceInfo info, PlanReport plan,
                           StartupReport startup, SteadyTime process_begin,
                           const std::filesystem::path& trace)
    : context_(std::move(context)),
      info_(std::move(info)),
      plan_(std::move(plan)),
      startup_(startup),
      process_begin_(process_begin),
      copy_workers_(plan_.copy_threads, node_cpus(), &context_->device.log()) {
    if (!trace.empty()) open_trace(trace);
}

StartupReport BackendState::startup() const {
    StartupReport report = startup_;
    report.first_pipeline_s = context_->pipelines.first_s();
    report.first_dispatch_s = context_->timelines.first_work().took_s();
    report.first_result_s = context_->timelines.first_work().done_after_s(process_begin_);
    return report;
}

/// A trace is still open if another Backend was assigned to this one.
BackendState::~BackendState() {
    write_trace();
}

void BackendState::open_trace(const std::filesystem::path& path) {
    trace_path_ = claim_trace_path(path);
    // Fail here rather than after a long run.
    std::error_code error;
    const std::filesystem::path folder = trace_path_.parent_path();
    if (!std::filesystem::is_directory(folder, error))
        context_->device.log().write(
            LogLevel::error, "trace: no such folder (got " + folder.string() + ", need one for WEFT_TRACE)");
    trace_ = context_->add_listener(ProfileOptions{}.max_events);
}

void BackendState::write_trace() noexcept {
    try {
        const std::shared_ptr<TraceSink> sink = std::exchange(trace_, nullptr);
        if (!sink) return;
        const TraceData data = context_->snapshot_trace(*sink);
        context_->trace.close(sink);
        const std::string failure = write_trace_file(data, trace_path_);
        if (!failure.empty())
            context_->device.log().write(LogLevel::error, "trace: " + failure);
        else
            context_->device.log().write(LogLevel::info, "trace: written to " + trace_path_.string());
    } catch (...) {
        context_->device.log().write(LogLevel::error, "trace: no memory for writing it");
    }
}

void BackendState::trim() noexcept {
    rings_.clear();
    scratch_cache_.clear();
    imports_.clear();
    context_->memory.trim();
}

}  // namespace weft::core
