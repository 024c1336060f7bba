// SPDX-License-Identifier: Apache-2.0
#include "vulkan/device/timeline.hpp"

#include <algorithm>
#include <cstdio>
#include <thread>
#include <utility>

#include "base/log.hpp"

namespace weft::core {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

namespace {

std::string timeline_name(const char* whose, std::size_t role) {
    return std::string(whose) + kRoleNames[role] + " timeline";
}

/// Allocates nothing, because repeated work does not.
void log_submission(const Log& log, QueueRole role, std::uint64_t value, std::size_t commands,
                    SemaphorePoint wait) noexcept {
    if (!log.enabled(LogLevel::debug)) return;
    char after[64] = "";
    if (wait.value != 0)
        std::snprintf(after, sizeof after, ", after value %llu of another timeline",
                      static_cast<unsigned long long>(wait.value));
    char text[160];
    std::snprintf(text, sizeof text, "submission: %s timeline %llu, %zu command buffer%s%s",
                  kRoleNames[static_cast<std::size_t>(role)], static_cast<unsigned long long>(value),
                  commands, commands == 1 ? "" : "s", after);
    log.write(LogLevel::debug, text);
}

}  // namespace

Timelines::Timelines(Device& device) : device_(device) {
    try {
        for (std::size_t role = 0; role < kQueueRoles; ++role)
            lines_[role].semaphore = make_timeline(device_, timeline_name("weft ", role), false);
        at_end_.emplace([this] { return busy(); });
    } catch (...) {
        destroy();
        throw;
    }
}

Timelines::~Timelines() {
    at_end_.reset();
    if (device_.untouchable()) return;
    let_drivers_finish();
    destroy();
}

/// Whether work is under way. For the end of the process, so without the locks of other threads.
bool Timelines::busy() noexcept {
    return std::any_of(lines_.begin(), lines_.end(), [&](const Line& l) {
        std::uint64_t now = 0;
        return !device_.lost() &&
               device_.vk.vkGetSemaphoreCounterValue(device_.handle(), l.semaphore, &now) == VK_SUCCESS &&
               now < l.last;
    });
}

/// Mesa's queue threads use a submission's semaphores briefly after these have reached their values.
void Timelines::let_drivers_finish() noexcept {
    if (device_.lost() || device_.adopted()) return;  // an application's queue may never become idle
    for (std::size_t i = 0; i < kQueueRoles; ++i) {
        const auto role = static_cast<QueueRole>(i);
        std::uint64_t now = 0;
        const std::lock_guard lock(device_.queue(role).mutex);
        const VkResult result =
            device_.vk.vkGetSemaphoreCounterValue(device_.handle(), semaphore(role), &now);
        if (result == VK_SUCCESS && now >= line(role).last)
            device_.vk.vkQueueWaitIdle(device_.queue(role).handle);
    }
}

void Timelines::destroy() noexcept {
    for (Line& l : lines_)
        for (const VkSemaphore semaphore : {l.semaphore, l.shared})
            if (semaphore != VK_NULL_HANDLE)
                device_.vk.vkDestroySemaphore(device_.handle(), semaphore, nullptr);
}

VkSemaphore make_timeline(Device& device, std::string_view name, bool shared) {
    VkExportSemaphoreCreateInfo exported{VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO};
    exported.handleTypes = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
    VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO};
    type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    if (shared) type.pNext = &exported;
    const VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type, 0};
    VkSemaphore semaphore = VK_NULL_HANDLE;
    device.check(device.vk.vkCreateSemaphore(device.handle(), &info, nullptr, &semaphore),
                 "vkCreateSemaphore");
    CounterCells::add(device.counters.objects);
    device.set_name(VK_OBJECT_TYPE_SEMAPHORE, semaphore, name);
    return semaphore;
}

VkResult Timelines::submit2(VkQueue queue, std::span<const VkCommandBuffer> commands, const Order& order) {
    std::array<VkCommandBufferSubmitInfo, kMostCommands> infos{};
    for (std::size_t i = 0; i < commands.size(); ++i) {
        infos[i].sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO;
        infos[i].commandBuffer = commands[i];
    }
    VkSemaphoreSubmitInfo waits{VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO};
    waits.semaphore = order.wait.semaphore;
    waits.value = order.wait.value;
    waits.stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    std::array<VkSemaphoreSubmitInfo, 2> signals{};
    for (std::size_t i = 0; i < signals.size(); ++i) {
        signals[i].sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO;
        signals[i].semaphore = order.signals[i];
        signals[i].value = order.value;
        signals[i].stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    }
    VkSubmitInfo2 info{VK_STRUCTURE_TYPE_SUBMIT_INFO_2};
    info.waitSemaphoreInfoCount = order.wait.value != 0 ? 1 : 0;
    info.pWaitSemaphoreInfos = &waits;
    info.commandBufferInfoCount = static_cast<std::uint32_t>(commands.size());
    info.pCommandBufferInfos = infos.data();
    info.signalSemaphoreInfoCount = order.signals[1] != VK_NULL_HANDLE ? 2 : 1;
    info.pSignalSemaphoreInfos = signals.data();
    return device_.vk.vkQueueSubmit2(queue, 1, &info, VK_NULL_HANDLE);
}

VkResult Timelines::submit1(VkQueue queue, std::span<const VkCommandBuffer> commands, const Order& order) {
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const std::array<std::uint64_t, 2> values{order.value, order.value};
    VkTimelineSemaphoreSubmitInfo timeline{VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO};
    timeline.waitSemaphoreValueCount = order.wait.value != 0 ? 1 : 0;
    timeline.pWaitSemaphoreValues = &order.wait.value;
    timeline.signalSemaphoreValueCount = order.signals[1] != VK_NULL_HANDLE ? 2 : 1;
    timeline.pSignalSemaphoreValues = values.data();
    VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO, &timeline};
    info.waitSemaphoreCount = timeline.waitSemaphoreValueCount;
    info.pWaitSemaphores = &order.wait.semaphore;
    info.pWaitDstStageMask = &stage;
    info.commandBufferCount = static_cast<std::uint32_t>(commands.size());
    info.pCommandBuffers = commands.data();
    info.signalSemaphoreCount = timeline.signalSemaphoreValueCount;
    info.pSignalSemaphores = order.signals.data();
    return device_.vk.vkQueueSubmit(queue, 1, &info, VK_NULL_HANDLE);
}

Token Timelines::submit(QueueRole role, VkCommandBuffer commands, Token wait) {
    return submit(role, std::span(&commands, commands != VK_NULL_HANDLE ? 1 : 0), wait);
}

Token Timelines::submit(QueueRole role, std::span<const VkCommandBuffer> commands, Token wait) {
    return submit_after(role, commands, point(wait));
}

Token Timelines::submit_after(QueueRole role, std::span<const VkCommandBuffer> commands,
                              SemaphorePoint wait) {
    const std::lock_guard lock(device_.queue(role).mutex);
    return submit_locked(role, commands, wait);
}

Token Timelines::submit_locked(QueueRole role, std::span<const VkCommandBuffer> commands,
                               SemaphorePoint wait) {
    Line& l = line(role);
    const VkQueue queue = device_.queue(role).handle;
    const std::uint64_t value = l.last + 1;
    const Order order{wait, {l.semaphore, l.shared}, value};
    first_work_.submitted();
    const VkResult result =
        device_.plan().synchronization2 ? submit2(queue, commands, order) : submit1(queue, commands, order);
    device_.check(result, "vkQueueSubmit");
    l.last = value;
    CounterCells::add(device_.counters.submissions);
    log_submission(device_.log(), role, value, commands.size(), wait);
    return {role, value};
}

VkSemaphore Timelines::shared(QueueRole role) {
    Line& l = line(role);
    const std::lock_guard lock(device_.queue(role).mutex);
    if (l.shared != VK_NULL_HANDLE) return l.shared;
    l.shared = make_timeline(device_, timeline_name("weft shared ", static_cast<std::size_t>(role)), true);
    try {
        submit_locked(role, {}, {});  // work submitted before is reached with this at the latest
    } catch (...) {
        device_.vk.vkDestroySemaphore(device_.handle(), std::exchange(l.shared, VK_NULL_HANDLE), nullptr);
        throw;
    }
    return l.shared;
}

bool Timelines::passed(Token token) {
    if (!passed(point(token))) return false;
    if (token.value != 0) first_work_.done();
    return true;
}

bool Timelines::passed(SemaphorePoint point) {
    if (point.value == 0) return true;
    std::uint64_t now = 0;
    device_.check(device_.vk.vkGetSemaphoreCounterValue(device_.handle(), point.semaphore, &now),
                  "vkGetSemaphoreCounterValue");
    // Work never brings a timeline to this value; some drivers set it when they lose the device.
    if (now == ~std::uint64_t{0}) device_.check(VK_ERROR_DEVICE_LOST, "vkGetSemaphoreCounterValue");
    return now >= point.value;
}

bool Timelines::wait(Token token, nanoseconds timeout, bool spin) {
    if (!wait(point(token), timeout, spin)) return false;
    if (token.value != 0) first_work_.done();
    return true;
}

bool Timelines::wait(SemaphorePoint point, nanoseconds timeout, bool spin) {
    if (point.value == 0) return true;
    timeout = std::max(timeout, nanoseconds(0));
    const auto start = steady_clock::now();
    if (spin && device_.plan().transfer.spin_wait) {
        // Short work ends before a sleeping thread could be woken; polling costs longer work nothing.
        const auto limit = std::min(timeout, nanoseconds(std::chrono::microseconds(100)));
        while (steady_clock::now() - start < limit)
            if (passed(point)) return true;
    }
    VkSemaphoreWaitInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO};
    info.semaphoreCount = 1;
    info.pSemaphores = &point.semaphore;
    info.pValues = &point.value;
    for (;;) {
        // In slices, so that the wait ends if another thread sees that the device is lost.
        const nanoseconds left =
            timeout == nanoseconds::max() ? timeout : timeout - (steady_clock::now() - start);
        const nanoseconds slice = std::clamp(left, nanoseconds(0), nanoseconds(std::chrono::seconds(2)));
        const VkResult result =
            device_.vk.vkWaitSemaphores(device_.handle(), &info, static_cast<std::uint64_t>(slice.count()));
        device_.check(result, "vkWaitSemaphores");
        device_.require_usable("wait");
        // After device loss a wait may return success or hang; only the counter value can be trusted.
        if (passed(point)) return true;
        if (result == VK_SUCCESS) device_.check(VK_ERROR_DEVICE_LOST, "vkWaitSemaphores");
        if (timeout != nanoseconds::max() && steady_clock::now() - start >= timeout) return false;
        look();
    }
}

void Timelines::on_slow_wait(std::function<void()> look) {
    auto held = std::make_shared<const std::function<void()>>(std::move(look));
    const std::lock_guard lock(look_mutex_);
    look_.swap(held);
}

void Timelines::look() noexcept {
    std::shared_ptr<const std::function<void()>> look;
    {
        const std::lock_guard lock(look_mutex_);
        look = look_;
    }
    if (look) (*look)();
}

Token Timelines::last(QueueRole role) {
    const std::lock_guard lock(device_.queue(role).mutex);
    return {role, line(role).last};
}

void Timelines::drain(Token token) noexcept {
    constexpr int kTries = 100;
    for (int tries = 0; tries < kTries; ++tries) {
        try {
            if (device_.lost()) return;
            wait(token);
            return;
        } catch (...) {
            // It may have failed for lack of memory, which says nothing about the work.
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    }
    device_.wedge();
}

void Timelines::wait_all() {
    for (std::size_t role = 0; role < kQueueRoles; ++role) wait(last(static_cast<QueueRole>(role)));
}

}  // namespace weft::core
