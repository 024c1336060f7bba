// SPDX-License-Identifier: Apache-2.0
#include "core/external_timeline.hpp"

#include <algorithm>

#include "core/stream_state.hpp"

namespace weft::core {
namespace {

FileDescriptor export_semaphore(Device& device, VkSemaphore semaphore) {
    VkSemaphoreGetFdInfoKHR info{VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR};
    info.semaphore = semaphore;
    info.handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
    int fd = -1;
    device.check(device.vk.vkGetSemaphoreFdKHR(device.handle(), &info, &fd), "vkGetSemaphoreFdKHR");
    return FileDescriptor(fd);
}

}  // namespace

ExternalTimeline::ExternalTimeline(std::shared_ptr<Context> context, SignallerCheck check)
    : context_(std::move(context)),
      check_(std::move(check)),
      semaphore_(make_timeline(context_->device, "weft external timeline", true)) {}

ExternalTimeline::~ExternalTimeline() {
    Device& device = context_->device;
    if (device.untouchable()) return;
    for (const Token& token : last_waits_) context_->timelines.drain(token);
    if (!device.untouchable()) device.vk.vkDestroySemaphore(device.handle(), semaphore_, nullptr);
}

void ExternalTimeline::waited_by(Token token) {
    const std::lock_guard lock(mutex_);
    Token& last = last_waits_[static_cast<std::size_t>(token.role)];
    last = {token.role, std::max(last.value, token.value)};
}

void ExternalTimeline::promise(std::uint64_t value) {
    const std::lock_guard lock(mutex_);
    promised_ = std::max(promised_, value);
}

void ExternalTimeline::look_after() noexcept {
    try {
        const std::string reason = check_ ? check_() : std::string();
        if (!reason.empty()) abandon(reason);
    } catch (...) {
        // Asked again two seconds later.
    }
}

/// Signals in place of the other API, so that queues end. First of all the device is given up: who waited
/// must not take what was computed from data that never came for a result.
void ExternalTimeline::abandon(const std::string& reason) noexcept {
    Device& device = context_->device;
    if (device.untouchable() || device.lost()) return;
    device.give_up(reason);
    const std::lock_guard lock(mutex_);
    VkSemaphoreSignalInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO};
    info.semaphore = semaphore_;
    info.value = promised_;
    bool ended = device.vk.vkSignalSemaphore(device.handle(), &info) == VK_SUCCESS;
    for (const Token& token : last_waits_) {
        const SemaphorePoint last = context_->timelines.point(token);
        if (!ended || last.value == 0) continue;
        VkSemaphoreWaitInfo wait{VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO};
        wait.semaphoreCount = 1;
        wait.pSemaphores = &last.semaphore;
        wait.pValues = &last.value;
        constexpr std::uint64_t kTenSeconds = 10'000'000'000;
        ended = device.vk.vkWaitSemaphores(device.handle(), &wait, kTenSeconds) == VK_SUCCESS;
    }
    if (!ended) device.wedge();  // what still runs must keep its memory
}

void ExternalTimelines::add(const std::shared_ptr<ExternalTimeline>& timeline) {
    const std::lock_guard lock(mutex_);
    std::erase_if(all_, [](const auto& weak) { return weak.expired(); });
    all_.push_back(timeline);
}

void ExternalTimelines::look_after() noexcept {
    std::vector<std::shared_ptr<ExternalTimeline>> alive;
    try {
        const std::lock_guard lock(mutex_);
        for (const auto& weak : all_)
            if (auto timeline = weak.lock()) alive.push_back(std::move(timeline));
    } catch (...) {
        return;
    }
    for (const auto& timeline : alive) timeline->look_after();
}

FileDescriptor export_work_timeline(const Runtime& runtime, std::size_t timeline) {
    Context& context = *runtime.context();
    return export_semaphore(context.device, context.timelines.shared(static_cast<QueueRole>(timeline)));
}

WorkPoint work_point(const Event& event) {
    if (!event.state()) return {};
    const EventState& state = *event.state();
    if (state.external) return {0, state.external_value, state.external};
    return {static_cast<std::size_t>(state.token.role), state.token.value, nullptr};
}

std::array<WorkPoint, kWorkTimelines> last_work(const Runtime& runtime) {
    static_assert(kWorkTimelines == kQueueRoles);
    std::array<WorkPoint, kWorkTimelines> points;
    for (std::size_t i = 0; i < kWorkTimelines; ++i)
        points[i] = {i, runtime.context()->timelines.last(static_cast<QueueRole>(i)).value, nullptr};
    return points;
}

std::shared_ptr<ExternalTimeline> make_external_timeline(const Runtime& runtime, SignallerCheck check) {
    const std::shared_ptr<Context>& context = runtime.context();
    auto timeline = std::make_shared<ExternalTimeline>(context, std::move(check));
    context->externals.add(timeline);
    context->timelines.on_slow_wait([c = context.get()] { c->externals.look_after(); });
    return timeline;
}

FileDescriptor export_timeline(const ExternalTimeline& timeline) {
    return export_semaphore(timeline.context()->device, timeline.point(0).semaphore);
}

Event external_event(const std::shared_ptr<ExternalTimeline>& timeline, std::uint64_t value) {
    timeline->promise(value);
    return Event(
        std::make_shared<const EventState>(EventState{timeline->context(), {}, {}, timeline, value}));
}

void hold_all(const Runtime& runtime, const Event& event) {
    Context& context = *runtime.context();
    context.device.require_usable("hold_all");
    const EventState& state = *event.state();
    for (std::size_t i = 0; i < kQueueRoles; ++i)
        state.external->waited_by(
            context.timelines.submit_after(static_cast<QueueRole>(i), {}, state.point()));
}

void look_after(ExternalTimeline& timeline) noexcept {
    timeline.look_after();
}

}  // namespace weft::core
