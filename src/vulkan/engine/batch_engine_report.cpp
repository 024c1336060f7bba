// SPDX-License-Identifier: Apache-2.0
// What a batch engine tells of its work: routes taken, stage times, totals.
#include <algorithm>
#include <array>
#include <chrono>
#include <string>

#include "vulkan/engine/batch_engine.hpp"

namespace weft::core {
namespace {

std::string queue_text(const QueuePlan& queues, bool split, bool paced) {
    const auto text = [&](QueueRole role) {
        const QueueSlot& slot = queues.of(role);
        return "family " + std::to_string(slot.family) + " queue " + std::to_string(slot.queue);
    };
    if (!split) return "all " + text(QueueRole::compute);
    return "upload " + text(QueueRole::upload) + ", compute " + text(QueueRole::compute) + ", download " +
           (paced ? text(QueueRole::compute) + " by a copy shader" : text(QueueRole::download));
}

}  // namespace

void BatchEngine::note_route(const Route& route, const Bundle& work) {
    if (report_.path == Path::automatic) {
        report_.path = route.path;
        report_.split_queues = route.copies && settings_.split;
        report_.queues =
            queue_text(context_.device.plan().queues, report_.split_queues, work.download_groups != 0);
        if (!work.uploads.empty())
            report_.host_memory = work.uploads.front().source->memory_source();
        else if (!work.downloads.empty())
            report_.host_memory = work.downloads.front().target->memory_source();
    }
    report_.download_workgroups = std::max(report_.download_workgroups, work.download_groups);
    report_.mixed_paths = report_.mixed_paths || report_.path != route.path;
}

bool BatchEngine::await_oldest(std::chrono::nanoseconds timeout, bool spin, bool more) {
    const bool listened = context_.trace.active(), short_of_slots = is_slot_bound(more);
    // Looking first costs a call, and tells a wait from work that had long been done.
    const bool waits = listened && short_of_slots && !context_.timelines.passed(oldest());
    const std::int64_t begin = monotonic_ns();
    const bool over = context_.timelines.wait(oldest(), timeout, spin);
    const std::int64_t end = monotonic_ns();
    if (waits) context_.trace.ring_wait(begin, end);
    report_.wait_s += static_cast<double>(end - begin) * 1e-9;
    report_.waits += over ? 1 : 0;
    oldest_done_ = over;
    return over;
}

/// All of an event but where and when.
StageEvent BatchEngine::event_of(const Slot& slot, ProfileStage stage) const {
    const Bundle& work = slot.work;
    const auto sum = [](const std::vector<CopyRegion>& regions) {
        std::uint64_t bytes = 0;
        for (const CopyRegion& region : regions) bytes += region.bytes;
        return bytes;
    };
    StageEvent event;
    event.stage = stage;
    event.bytes = stage == ProfileStage::upload     ? sum(work.uploads)
                  : stage == ProfileStage::download ? sum(work.downloads)
                                                    : work.bytes;
    event.operations = stage == ProfileStage::kernel ? static_cast<std::uint32_t>(work.chunks.size()) : 1;
    event.jobs = static_cast<std::uint32_t>(work.chunks.size());
    event.job = work.chunks.front().chunk.job;
    event.job_name = context_.trace.name(jobs_[event.job - base_].job->name);
    event.program = context_.trace.name(program_->name);
    for (std::size_t i = 0; i < ring_->slots.size(); ++i)
        if (ring_->slots[i].get() == &slot) event.slot = static_cast<std::uint32_t>(i);
    return event;
}

void BatchEngine::timed_copy(const Slot& slot, ProfileStage stage) {
    const bool in = stage == ProfileStage::copy_in;
    const std::vector<HostCopy>& copies = in ? slot.work.copies_in : slot.work.copies_out;
    if (copies.empty()) return;
    CopyLabel label;
    if (context_.trace.active()) label = {&context_.trace, event_of(slot, stage)};
    const std::int64_t begin = monotonic_ns();
    backend_state_.copy_workers().copy(copies, label);
    (in ? report_.copy_in_s : report_.copy_out_s) += static_cast<double>(monotonic_ns() - begin) * 1e-9;
}

/// Only for bundles that are done: reading never makes one wait for another.
bool BatchEngine::read_interval(const Slot& slot, std::size_t role, QueueRole timed_by, StageEvent& event) {
    if (!slot.timed || !context_.clocks.timed(timed_by)) return false;
    Device& device = context_.device;
    const auto stage = static_cast<QueueRole>(role);
    const std::uint32_t first = first_query(shape(slot.work), stage);
    std::array<std::uint64_t, 2> ticks{};
    device.check(
        device.vk.vkGetQueryPoolResults(device.handle(), slot.active->queries, first, 2, sizeof ticks,
                                        ticks.data(), sizeof ticks[0], VK_QUERY_RESULT_64_BIT),
        "vkGetQueryPoolResults");
    event.end_ns = context_.clocks.host_ns(timed_by, ticks[1], monotonic_ns());
    event.begin_ns = context_.clocks.host_ns(timed_by, ticks[0], event.end_ns);
    return true;
}

void BatchEngine::report_stages(const Slot& slot, std::uint32_t index) {
    // A pipeline that runs for days must not collect for days.
    constexpr std::size_t kMostIntervals = std::size_t{1} << 20;
    const bool listened = context_.trace.active();
    if (slot.timed) context_.clocks.refresh(in_flight_ == 0);
    for (std::size_t role = 0; role < kQueueRoles; ++role) {
        if (!slot.work.route.copies && role != static_cast<std::size_t>(QueueRole::compute)) continue;
        // The compute queue timed the stages of a submission that several share.
        const bool apart =
            shape(slot.work) == SubmitMode::split ||
            (shape(slot.work) == SubmitMode::paced && static_cast<QueueRole>(role) == QueueRole::upload);
        const QueueRole timed_by = apart ? static_cast<QueueRole>(role) : QueueRole::compute;
        StageEvent event;
        if (listened) event = event_of(slot, static_cast<ProfileStage>(role));
        event.row = context_.row_of(timed_by);
        event.timed = read_interval(slot, role, timed_by, event);
        if (listened && event.bytes != 0) context_.trace.stage(event);
        if (!settings_.stage_times || !event.timed || report_.intervals.size() >= kMostIntervals) continue;
        if (!first_stage_ns_) first_stage_ns_ = event.begin_ns;
        const auto seconds = [&](std::int64_t ns) {
            return static_cast<double>(ns - *first_stage_ns_) * 1e-9;
        };
        report_.intervals.push_back({static_cast<Stage>(role), index,
                                     static_cast<std::uint32_t>(slot.work.chunks.front().chunk.job),
                                     seconds(event.begin_ns), seconds(event.end_ns)});
    }
}

BatchReport BatchEngine::report() const {
    BatchReport report = report_;
    report.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    return report;
}

}  // namespace weft::core
