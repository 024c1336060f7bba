// SPDX-License-Identifier: Apache-2.0
#include "vulkan/engine/batch_meter.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <string>

#include "base/log.hpp"
#include "plan/work/batch_text.hpp"
#include "vulkan/device/commands.hpp"

namespace weft::core {
namespace {

std::string queues_text(const QueuePlan& queues, bool split) {
    if (!split) return "all " + queue_text(queues.of(QueueRole::compute));
    std::string text;
    for (std::size_t role = 0; role < kQueueRoles; ++role)
        text +=
            (role == 0 ? "" : ", ") + std::string(kRoleNames[role]) + " " + queue_text(queues.slots[role]);
    return text;
}

std::uint64_t sum_of(const std::vector<CopyRegion>& regions) {
    std::uint64_t bytes = 0;
    for (const CopyRegion& region : regions) bytes += region.bytes;
    return bytes;
}

}  // namespace

BatchMeter::BatchMeter(BackendState& backend_state, const ProgramObject& program,
                       const BatchSettings& settings)
    : context_(*backend_state.context()),
      copy_workers_(backend_state.copy_workers()),
      program_(program),
      settings_(settings) {
    report_.split_queues = settings_.split;
    report_.ring_slots = settings_.slots;
    if (!settings_.stage_times) return;
    report_.intervals.reserve(64);
    context_.clocks.refresh(true);
}

void BatchMeter::job_added(const Job& job, std::uint64_t elements) {
    report_.elements += elements;
    if (elements == 0) return;
    for (const InputSpan& span : job.inputs)
        report_.bytes_in += span.broadcast ? span.bytes : span.bytes / job.elements * elements;
    report_.bytes_out += job_bytes_out(job) / job.elements * elements;
}

void BatchMeter::bundle_started(const Bundle& work) {
    ++report_.bundles;
    report_.chunks += work.chunks.size();
    for (const ChunkDispatch& chunk : work.chunks)
        report_.chunk_elements = std::max(report_.chunk_elements, chunk.chunk.count);
    note_route(work);
}

void BatchMeter::note_route(const Bundle& work) {
    if (report_.path == Path::automatic) {
        report_.path = work.route.path;
        path_reason_ = work.route.reason;
        report_.split_queues = work.submit == SubmitMode::split;
        report_.queues = queues_text(context_.device.plan().queues, report_.split_queues);
        if (!work.uploads.empty())
            report_.host_memory = work.uploads.front().source->memory_source();
        else if (!work.downloads.empty())
            report_.host_memory = work.downloads.front().target->memory_source();
    }
    report_.mixed_paths = report_.mixed_paths || report_.path != work.route.path;
}

bool BatchMeter::wait(Token done, std::chrono::nanoseconds timeout, bool spin, bool ring_wait) {
    // If the work is already done, this is not a wait. The check costs a call, so it is made for listeners
    // only.
    const bool waits = ring_wait && context_.trace.active() && !context_.timelines.passed(done);
    const std::int64_t begin = monotonic_ns();
    const bool over = context_.timelines.wait(done, timeout, spin);
    const std::int64_t end = monotonic_ns();
    if (waits) context_.trace.ring_wait(begin, end);
    report_.wait_s += static_cast<double>(end - begin) * 1e-9;
    report_.waits += over ? 1 : 0;
    return over;
}

/// The event without its row and times.
StageEvent BatchMeter::event_of(const Slot& slot, Stage stage) const {
    const Bundle& work = slot.work;
    StageEvent event;
    event.stage = stage;
    event.bytes = stage == Stage::upload     ? sum_of(work.uploads)
                  : stage == Stage::download ? sum_of(work.downloads)
                                             : work.bytes;
    event.operations = stage == Stage::kernel ? dispatches_of(work) : 1;
    event.jobs = static_cast<std::uint32_t>(work.chunks.size());
    event.job = work.chunks.front().chunk.job;
    event.job_name = context_.trace.name(work.first_job->name);
    event.program = context_.trace.name(program_.name);
    event.slot = slot.index();
    return event;
}

void BatchMeter::copy(const Slot& slot, Stage stage) {
    const bool in = stage == Stage::copy_in;
    const std::vector<HostCopy>& copies = in ? slot.work.copies_in : slot.work.copies_out;
    if (copies.empty()) return;
    CopyLabel label;
    if (context_.trace.active()) label = {&context_.trace, event_of(slot, stage)};
    const std::int64_t begin = monotonic_ns();
    copy_workers_.copy(copies, label);
    (in ? report_.copy_in_s : report_.copy_out_s) += static_cast<double>(monotonic_ns() - begin) * 1e-9;
}

/// Only for bundles that are done, so that reading never waits.
bool BatchMeter::read_interval(const Slot& slot, QueueRole stage, QueueRole timed_by, StageEvent& event) {
    if (!slot.timed || !context_.clocks.timed(timed_by)) return false;
    std::array<std::uint64_t, 2> ticks{};
    read_timestamps(context_.device, slot.active->queries, first_query(slot.work.submit, stage), ticks);
    event.end_ns = context_.clocks.host_ns(timed_by, ticks[1], monotonic_ns());
    event.begin_ns = context_.clocks.host_ns(timed_by, ticks[0], event.end_ns);
    return true;
}

void BatchMeter::keep_interval(const Slot& slot, Stage stage, const StageEvent& event) {
    // Bounds the memory of a pipeline that runs for days.
    constexpr std::size_t kMostIntervals = std::size_t{1} << 20;
    if (!settings_.stage_times || !event.timed || report_.intervals.size() >= kMostIntervals) return;
    if (!first_stage_ns_) first_stage_ns_ = event.begin_ns;
    const auto seconds = [&](std::int64_t ns) { return static_cast<double>(ns - *first_stage_ns_) * 1e-9; };
    report_.intervals.push_back({stage, slot.index(),
                                 static_cast<std::uint32_t>(slot.work.chunks.front().chunk.job),
                                 seconds(event.begin_ns), seconds(event.end_ns)});
}

std::optional<double> BatchMeter::bundle_done(const Slot& slot, bool idle) {
    const bool listened = context_.trace.active();
    std::optional<double> kernel_s;
    if (!slot.timed && !listened) return kernel_s;
    if (slot.timed) context_.clocks.refresh(idle);
    for (std::size_t i = 0; i < kQueueRoles; ++i) {
        const auto role = static_cast<QueueRole>(i);
        if (!slot.work.route.copies && role != QueueRole::compute) continue;
        // If the stages share one submission, the compute queue timed them all.
        const QueueRole timed_by = slot.work.submit == SubmitMode::split ? role : QueueRole::compute;
        StageEvent event;
        if (listened) event = event_of(slot, static_cast<Stage>(i));
        event.row = context_.row_of(timed_by);
        event.timed = read_interval(slot, role, timed_by, event);
        if (listened && event.bytes != 0) context_.trace.stage(event);
        keep_interval(slot, static_cast<Stage>(i), event);
        if (role == QueueRole::compute && event.timed)
            kernel_s = static_cast<double>(event.end_ns - event.begin_ns) * 1e-9;
    }
    return kernel_s;
}

void BatchMeter::log() const noexcept {
    const Log& log = context_.device.log();
    if (!log.enabled(LogLevel::info) || report_.elements == 0) return;
    try {
        log.write(LogLevel::info, batch_text(program_.name, report(), settings_, path_reason_));
    } catch (const std::bad_alloc&) {  // a line of the log must not end a batch
    }
}

BatchReport BatchMeter::report() const {
    BatchReport report = report_;
    report.wall_s = seconds_since(begin_);
    return report;
}

}  // namespace weft::core
