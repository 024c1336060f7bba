// SPDX-License-Identifier: Apache-2.0
#include "vulkan/context/external_timeline.hpp"

#include <algorithm>

#include "vulkan/context/context.hpp"

namespace weft::core {

ExternalTimeline::ExternalTimeline(std::shared_ptr<Context> context, std::function<std::string()> check)
    : context_(std::move(context)),
      check_(std::move(check)),
      semaphore_(make_timeline(context_->device, "weft external timeline", true)) {}

ExternalTimeline::~ExternalTimeline() {
    Device& device = context_->device;
    if (device.untouchable()) return;
    for (const Token& token : last_waits_) context_->timelines.drain(token);
    if (!device.untouchable()) device.vk.vkDestroySemaphore(device.handle(), semaphore_, nullptr);
}

void ExternalTimeline::add_waiter(Token token) {
    const std::lock_guard lock(mutex_);
    Token& last = last_waits_[static_cast<std::size_t>(token.role)];
    last = {token.role, std::max(last.value, token.value)};
}

void ExternalTimeline::expect_value(std::uint64_t value) {
    const std::lock_guard lock(mutex_);
    expected_ = std::max(expected_, value);
}

void ExternalTimeline::poll() noexcept {
    try {
        const std::string reason = check_ ? check_() : std::string();
        if (!reason.empty()) abandon(reason);
    } catch (...) {
        // The check is called again two seconds later.
    }
}

/// Signals in place of the other API, so that the queues become idle. The device is given up first: a waiting
/// caller must not get results that were computed from data that never came.
void ExternalTimeline::abandon(const std::string& reason) noexcept {
    Device& device = context_->device;
    if (device.untouchable() || device.lost()) return;
    device.give_up(reason);
    const std::lock_guard lock(mutex_);
    VkSemaphoreSignalInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO};
    info.semaphore = semaphore_;
    info.value = expected_;
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
    if (!ended) device.wedge();  // work that still runs must keep its memory
}

void ExternalTimelines::add(const std::shared_ptr<ExternalTimeline>& timeline) {
    const std::lock_guard lock(mutex_);
    std::erase_if(all_, [](const auto& weak) { return weak.expired(); });
    all_.push_back(timeline);
}

void ExternalTimelines::poll() noexcept {
    std::vector<std::shared_ptr<ExternalTimeline>> alive;
    try {
        const std::lock_guard lock(mutex_);
        for (const auto& weak : all_)
            if (auto timeline = weak.lock()) alive.push_back(std::move(timeline));
    } catch (...) {
        return;
    }
    for (const auto& timeline : alive) timeline->poll();
}

}  // namespace weft::core
