// SPDX-License-Identifier: Apache-2.0
// What a batch engine tells of its work: routes taken, stage times, totals.
#include <algorithm>
#include <array>
#include <chrono>
#include <string>

#include "core/batch_engine.hpp"
#include "core/intervals.hpp"

namespace weft::core {
namespace {

std::string queue_text(const QueuePlan& queues, bool split) {
    const auto text = [&](QueueRole role) {
        const QueueSlot& slot = queues.of(role);
        return "family " + std::to_string(slot.family) + " queue " + std::to_string(slot.queue);
    };
    if (!split) return "all " + text(QueueRole::compute);
    return "upload " + text(QueueRole::upload) + ", compute " + text(QueueRole::compute) + ", download " +
           text(QueueRole::download);
}

}  // namespace

void BatchEngine::note_route(const Route& route, const GroupWork& work) {
    if (report_.path == Path::automatic) {
        report_.path = route.path;
        report_.split_queues = route.copies && settings_.split;
        report_.queues = queue_text(context_.device.plan().queues, report_.split_queues);
        if (!work.uploads.empty())
            report_.host_memory = work.uploads.front().source->memory_source();
        else if (!work.downloads.empty())
            report_.host_memory = work.downloads.front().target->memory_source();
    }
    report_.mixed_paths = report_.mixed_paths || report_.path != route.path;
}

void BatchEngine::read_times(const Slot& slot, std::uint32_t index) {
    Device& device = context_.device;
    const bool copies = slot.work.route.copies;
    std::array<std::uint64_t, 2 * kQueueRoles> ticks{};
    for (std::size_t role = 0; role < kQueueRoles; ++role) {
        const bool ran = copies || role == static_cast<std::size_t>(QueueRole::compute);
        // Where the stages share one submission, the compute queue timed them all.
        const QueueRole timed_by = settings_.split ? static_cast<QueueRole>(role) : QueueRole::compute;
        if (!ran || device.timestamp_bits(timed_by) == 0) continue;
        const auto query = static_cast<std::uint32_t>(2 * role);
        device.check(device.vk.vkGetQueryPoolResults(device.handle(), slot.active->queries, query, 2,
                                                     2 * sizeof(std::uint64_t), &ticks[2 * role],
                                                     sizeof(std::uint64_t), VK_QUERY_RESULT_64_BIT),
                     "vkGetQueryPoolResults");
        if (!have_base_tick_) {
            base_tick_ = ticks[2 * role];
            have_base_tick_ = true;
        }
        // A pipeline that runs for days must not collect for days.
        constexpr std::size_t kMostIntervals = std::size_t{1} << 20;
        if (report_.intervals.size() >= kMostIntervals) return;
        const DeviceSnapshot& s = device.snapshot();
        // Ticks of different queues are compared, so only the bits that all timed ones have count.
        std::uint32_t bits = 64;
        for (const QueueRole queue : {QueueRole::upload, QueueRole::compute, QueueRole::download})
            if (device.timestamp_bits(queue) != 0) bits = std::min(bits, device.timestamp_bits(queue));
        const auto at = [&](std::uint64_t tick) {
            return static_cast<double>(tick_distance(base_tick_, tick, bits)) * s.limits.timestamp_period_ns *
                   1e-9;
        };
        report_.intervals.push_back({static_cast<Stage>(role), index,
                                     static_cast<std::uint32_t>(slot.work.pieces.front().piece.job),
                                     at(ticks[2 * role]), at(ticks[2 * role + 1])});
    }
}

BatchReport BatchEngine::report() const {
    BatchReport report = report_;
    report.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    return report;
}

}  // namespace weft::core
