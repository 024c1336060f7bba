// SPDX-License-Identifier: Apache-2.0
#include "vulkan/context/stage_timer.hpp"

#include <algorithm>
#include <array>

namespace weft::core {
namespace {

VkQueryPool make_queries(Device& device, std::uint32_t count) {
    VkQueryPoolCreateInfo info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
    info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    info.queryCount = count;
    VkQueryPool pool = VK_NULL_HANDLE;
    device.check(device.vk.vkCreateQueryPool(device.handle(), &info, nullptr, &pool), "vkCreateQueryPool");
    CounterCells::add(device.counters.objects);
    return pool;
}

void read_queries(Device& device, VkQueryPool pool, std::uint32_t first, std::uint32_t count,
                  std::uint64_t* ticks) {
    device.check(
        device.vk.vkGetQueryPoolResults(device.handle(), pool, first, count, count * sizeof(std::uint64_t),
                                        ticks, sizeof(std::uint64_t), VK_QUERY_RESULT_64_BIT),
        "vkGetQueryPoolResults");
}

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
    // The lock of a forked child may be locked for ever, and there is no listener in it.
    if (device.foreign_process()) return;
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
        pools_.push_back(make_queries(context_.device, kStampsPerPool));
    }
}

/// Bottom of pipe: when all before it has ended.
void RangeTimer::stamp(VkCommandBuffer commands) {
    context_.device.vk.vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
                                           pools_[stamps_ / kStampsPerPool], stamps_ % kStampsPerPool);
    ++stamps_;
}

void RangeTimer::begin(VkCommandBuffer commands, const StageEvent& event) {
    const std::lock_guard lock(mutex_);
    ranges_.push_back(event);
    ranges_.back().row = context_.row_of(role_);
    ranges_.back().timed = has_queries_ && ranges_.size() <= kMostRanges;
    if (!ranges_.back().timed) return;
    try {
        make_room(std::max(stamps_, 1u) + 1);  // the one that ends it too, so that no range is left open
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

/// act(pool, queries of it in use, of which the first is this stamp)
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
        read_queries(context_.device, pool, 0, count, ticks_.data() + first);
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
    if (device.foreign_process()) return;
    context_.timers.remove(*this);
    if (device.untouchable()) return;
    for (const VkQueryPool queries : queries_)
        device.vk.vkDestroyQueryPool(device.handle(), queries, nullptr);
    if (pool_ != VK_NULL_HANDLE) device.vk.vkDestroyCommandPool(device.handle(), pool_, nullptr);
}

void SubmissionTimer::record(VkCommandBuffer commands, VkQueryPool queries, std::uint32_t query) {
    Device& device = context_.device;
    const VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr, 0, nullptr};
    device.check(device.vk.vkBeginCommandBuffer(commands, &info), "vkBeginCommandBuffer");
    device.vk.vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries, query);
    device.check(device.vk.vkEndCommandBuffer(commands), "vkEndCommandBuffer");
}

void SubmissionTimer::make_block() {
    Device& device = context_.device;
    if (pool_ == VK_NULL_HANDLE) {
        VkCommandPoolCreateInfo info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
        info.queueFamilyIndex = device.queue(role_).slot.family;
        device.check(device.vk.vkCreateCommandPool(device.handle(), &info, nullptr, &pool_),
                     "vkCreateCommandPool");
        CounterCells::add(device.counters.objects);
    }
    constexpr auto kStamps = static_cast<std::uint32_t>(2 * kBlock);
    // Room first: what follows must not fail between the making of something and its keeping.
    idle_.reserve(kBlock * (queries_.size() + 1));
    queries_.reserve(queries_.size() + 1);
    std::array<VkCommandBuffer, kStamps> commands{};
    VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    allocate.commandPool = pool_;
    allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    allocate.commandBufferCount = kStamps;
    device.check(device.vk.vkAllocateCommandBuffers(device.handle(), &allocate, commands.data()),
                 "vkAllocateCommandBuffers");
    VkQueryPool queries = VK_NULL_HANDLE;
    try {
        queries = make_queries(device, kStamps);
        for (std::uint32_t i = 0; i < kStamps; ++i) record(commands[i], queries, i);
    } catch (...) {
        if (queries != VK_NULL_HANDLE) device.vk.vkDestroyQueryPool(device.handle(), queries, nullptr);
        device.vk.vkFreeCommandBuffers(device.handle(), pool_, kStamps, commands.data());
        throw;
    }
    CounterCells::add(device.counters.objects, kStamps);
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
        read_queries(context_.device, running.pair.queries, running.pair.first, 2, ticks.data());
        context_.clocks.refresh(false);
        place(context_, role_, ticks[0], ticks[1], monotonic_ns(), event);
    }
    context_.trace.stage(event);
}

void SubmissionTimer::finish() {
    const std::lock_guard lock(mutex_);
    // One queue: they end in the order in which they were submitted. The last may not be submitted yet.
    while (!running_.empty() && running_.front().token.value != 0 &&
           context_.timelines.passed(running_.front().token)) {
        const Running done = running_.front();
        running_.pop_front();
        if (done.event.timed) idle_.push_back(done.pair);
        report(done);
    }
}

}  // namespace weft::core
