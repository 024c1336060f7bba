// SPDX-License-Identifier: Apache-2.0
#include "vulkan/context/stage_timer.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "vulkan/device/commands.hpp"

namespace weft::core {
namespace {

void place(Context& context, QueueRole role, std::uint64_t begin, std::uint64_t end, std::int64_t now,
           StageEvent& event) {
    event.end_ns = context.clocks.host_ns(role, end, now);
    event.begin_ns = context.clocks.host_ns(role, begin, event.end_ns);
}

}  // namespace

RangeTimer::RangeTimer(Context& context, QueueRole role)
    : context_(context), role_(role), has_queries_(context.clocks.timed(role)) {
    context.timers.add(*this);
}

RangeTimer::~RangeTimer() {
    Device& device = context_.device;
    // In a forked child the lock may be locked forever, and there is no listener.
    if (device.beyond_use()) return;
    context_.timers.remove(*this);
    if (device.untouchable()) return;
    for (const VkQueryPool pool : pools_) device.vk.vkDestroyQueryPool(device.handle(), pool, nullptr);
}

void RangeTimer::begin_recording() {
    const std::lock_guard lock(mutex_);
    ranges_.clear();
    stamps_ = 0;
    open_ = false;
    submitted_ = {};
}

/// A new pool's queries are undefined until they are reset, which before_submit() does.
void RangeTimer::make_room(std::uint32_t stamps) {
    while (pools_.size() * kStampsPerPool < stamps) {
        pools_.reserve(pools_.size() + 1);
        pools_.push_back(make_timestamps(context_.device, kStampsPerPool));
    }
}

void RangeTimer::stamp(VkCommandBuffer commands) {
    write_timestamp(context_.device, commands, pools_[stamps_ / kStampsPerPool], stamps_ % kStampsPerPool);
    ++stamps_;
}

void RangeTimer::begin(VkCommandBuffer commands, const StageEvent& event) {
    const std::lock_guard lock(mutex_);
    ranges_.push_back(event);
    ranges_.back().row = context_.row_of(role_);
    ranges_.back().timed = has_queries_ && ranges_.size() <= kMostRanges;
    if (!ranges_.back().timed) return;
    try {
        make_room(std::max(stamps_, 1u) + 1);  // also for the stamp that ends it, so that no range stays open
    } catch (...) {
        ranges_.pop_back();
        throw;
    }
    if (stamps_ == 0) stamp(commands);
    open_ = true;
}

void RangeTimer::extend(const StageEvent& event) {
    const std::lock_guard lock(mutex_);
    ranges_.back().operations += event.operations;
    ranges_.back().bytes += event.bytes;
}

void RangeTimer::end(VkCommandBuffer commands) {
    const std::lock_guard lock(mutex_);
    if (!open_) return;
    open_ = false;
    stamp(commands);
}

/// Calls act(pool, number of its queries in use, stamp of its first query).
template <class Act>
void RangeTimer::each_pool(const Act& act) const {
    for (std::uint32_t first = 0; first < stamps_; first += kStampsPerPool)
        act(pools_[first / kStampsPerPool], std::min(kStampsPerPool, stamps_ - first), first);
}

void RangeTimer::before_submit() {
    const std::lock_guard lock(mutex_);
    Device& device = context_.device;
    each_pool([&](VkQueryPool pool, std::uint32_t count, std::uint32_t) {
        device.vk.vkResetQueryPool(device.handle(), pool, 0, count);
    });
    submitted_ = {};
}

void RangeTimer::submitted(Token token) {
    const std::lock_guard lock(mutex_);
    submitted_ = token;
}

void RangeTimer::read() {
    ticks_.resize(stamps_);
    each_pool([&](VkQueryPool pool, std::uint32_t count, std::uint32_t first) {
        read_timestamps(context_.device, pool, 0, std::span(ticks_).subspan(first, count));
    });
}

void RangeTimer::finish() {
    const std::lock_guard lock(mutex_);
    if (submitted_.value == 0 || !context_.timelines.passed(submitted_)) return;
    if (context_.trace.active()) {
        read();
        if (stamps_ != 0) context_.clocks.refresh(false);
        const std::int64_t now = monotonic_ns();
        for (std::size_t i = 0; i < ranges_.size(); ++i) {
            StageEvent event = ranges_[i];
            if (event.timed) place(context_, role_, ticks_[i], ticks_[i + 1], now, event);
            context_.trace.stage(event);
        }
    }
    submitted_ = {};
}

SubmissionTimer::SubmissionTimer(Context& context, QueueRole role) : context_(context), role_(role) {
    context.timers.add(*this);
}

SubmissionTimer::~SubmissionTimer() {
    Device& device = context_.device;
    if (device.beyond_use()) return;
    context_.timers.remove(*this);
    if (device.untouchable()) return;
    for (const VkQueryPool queries : queries_)
        device.vk.vkDestroyQueryPool(device.handle(), queries, nullptr);
    if (pool_ != VK_NULL_HANDLE) device.vk.vkDestroyCommandPool(device.handle(), pool_, nullptr);
}

void SubmissionTimer::record(VkCommandBuffer commands, VkQueryPool queries, std::uint32_t query) {
    Device& device = context_.device;
    begin_commands(device, commands);
    write_timestamp(device, commands, queries, query);
    end_commands(device, commands);
}

void SubmissionTimer::make_block() {
    Device& device = context_.device;
    if (pool_ == VK_NULL_HANDLE) pool_ = make_command_pool(device, device.queue(role_).slot.family);
    constexpr auto kStamps = static_cast<std::uint32_t>(2 * kBlock);
    // Reserved first, so that nothing can fail between making an object and keeping it.
    idle_.reserve(kBlock * (queries_.size() + 1));
    queries_.reserve(queries_.size() + 1);
    std::array<VkCommandBuffer, kStamps> commands{};
    allocate_commands(device, pool_, commands);
    VkQueryPool queries = VK_NULL_HANDLE;
    try {
        queries = make_timestamps(device, kStamps);
        for (std::uint32_t i = 0; i < kStamps; ++i) record(commands[i], queries, i);
    } catch (...) {
        if (queries != VK_NULL_HANDLE) device.vk.vkDestroyQueryPool(device.handle(), queries, nullptr);
        device.vk.vkFreeCommandBuffers(device.handle(), pool_, kStamps, commands.data());
        throw;
    }
    queries_.push_back(queries);
    for (std::uint32_t i = kStamps; i > 0; i -= 2)
        idle_.push_back({queries, i - 2, commands[i - 2], commands[i - 1]});
}

SubmissionTimer::Around SubmissionTimer::take(const StageEvent& event) {
    const std::lock_guard lock(mutex_);
    Running running;
    running.event = event;
    running.event.row = context_.row_of(role_);
    running.event.timed = context_.clocks.timed(role_) && running_.size() < kMostTimed;
    running_.push_back(running);
    if (!running.event.timed) return {};
    try {
        if (idle_.empty()) make_block();
    } catch (...) {
        running_.pop_back();
        throw;
    }
    running_.back().pair = idle_.back();
    idle_.pop_back();
    const Pair& pair = running_.back().pair;
    context_.device.vk.vkResetQueryPool(context_.device.handle(), pair.queries, pair.first, 2);
    return {pair.before, pair.after};
}

void SubmissionTimer::submitted(Token token) {
    const std::lock_guard lock(mutex_);
    if (token.value != 0) {
        running_.back().token = token;
        return;
    }
    if (running_.back().event.timed) idle_.push_back(running_.back().pair);
    running_.pop_back();
}

void SubmissionTimer::report(const Running& running) {
    if (!context_.trace.active()) return;
    StageEvent event = running.event;
    if (event.timed) {
        std::array<std::uint64_t, 2> ticks{};
        read_timestamps(context_.device, running.pair.queries, running.pair.first, ticks);
        context_.clocks.refresh(false);
        place(context_, role_, ticks[0], ticks[1], monotonic_ns(), event);
    }
    context_.trace.stage(event);
}

void SubmissionTimer::finish() {
    const std::lock_guard lock(mutex_);
    // Submissions of one queue end in their order. The last may not have been submitted yet.
    while (!running_.empty() && running_.front().token.value != 0 &&
           context_.timelines.passed(running_.front().token)) {
        const Running done = running_.front();
        running_.pop_front();
        if (done.event.timed) idle_.push_back(done.pair);
        report(done);
    }
}

}  // namespace weft::core
