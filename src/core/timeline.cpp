// SPDX-License-Identifier: Apache-2.0
#include "core/timeline.hpp"

#include <algorithm>
#include <thread>
#include <utility>

namespace weft::core {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

Timelines::Timelines(Device& device) : device_(device) {
    constexpr std::array<const char*, kQueueRoles> kNames{"weft upload timeline", "weft compute timeline",
                                                          "weft download timeline"};
    // Measured on an NVIDIA H200: submitting, waiting and handing over take the same time, shared or not.
    const bool shared = device.plan().shared_timelines_fd;
    try {
        for (std::size_t role = 0; role < kQueueRoles; ++role)
            lines_[role].semaphore = make_timeline(device_, kNames[role], shared);
    } catch (...) {
        destroy();
        throw;
    }
}

Timelines::~Timelines() {
    if (!device_.untouchable()) destroy();
}

void Timelines::destroy() noexcept {
    for (Line& l : lines_)
        if (l.semaphore != VK_NULL_HANDLE)
            device_.vk.vkDestroySemaphore(device_.handle(), l.semaphore, nullptr);
}

VkSemaphore make_timeline(Device& device, const char* name, bool shared) {
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

VkResult Timelines::submit2(VkQueue queue, std::span<const VkCommandBuffer> commands, SemaphorePoint wait,
                            VkSemaphore signal, std::uint64_t value) {
    std::array<VkCommandBufferSubmitInfo, kMostCommands> infos{};
    for (std::size_t i = 0; i < commands.size(); ++i) {
        infos[i].sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO;
        infos[i].commandBuffer = commands[i];
    }
    VkSemaphoreSubmitInfo waits{VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO};
    waits.semaphore = wait.semaphore;
    waits.value = wait.value;
    waits.stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    VkSemaphoreSubmitInfo signals{VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO};
    signals.semaphore = signal;
    signals.value = value;
    signals.stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    VkSubmitInfo2 info{VK_STRUCTURE_TYPE_SUBMIT_INFO_2};
    info.waitSemaphoreInfoCount = wait.value != 0 ? 1 : 0;
    info.pWaitSemaphoreInfos = &waits;
    info.commandBufferInfoCount = static_cast<std::uint32_t>(commands.size());
    info.pCommandBufferInfos = infos.data();
    info.signalSemaphoreInfoCount = 1;
    info.pSignalSemaphoreInfos = &signals;
    return device_.vk.vkQueueSubmit2(queue, 1, &info, VK_NULL_HANDLE);
}

VkResult Timelines::submit1(VkQueue queue, std::span<const VkCommandBuffer> commands, SemaphorePoint wait,
                            VkSemaphore signal, std::uint64_t value) {
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    VkTimelineSemaphoreSubmitInfo values{VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO};
    values.waitSemaphoreValueCount = wait.value != 0 ? 1 : 0;
    values.pWaitSemaphoreValues = &wait.value;
    values.signalSemaphoreValueCount = 1;
    values.pSignalSemaphoreValues = &value;
    VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO, &values};
    info.waitSemaphoreCount = values.waitSemaphoreValueCount;
    info.pWaitSemaphores = &wait.semaphore;
    info.pWaitDstStageMask = &stage;
    info.commandBufferCount = static_cast<std::uint32_t>(commands.size());
    info.pCommandBuffers = commands.data();
    info.signalSemaphoreCount = 1;
    info.pSignalSemaphores = &signal;
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
    PhysicalQueue& queue = device_.queue(role);
    Line& l = line(role);
    const std::lock_guard lock(queue.mutex);
    const std::uint64_t value = l.last + 1;
    first_work_.submitted();
    const VkResult result = device_.plan().synchronization2
                                ? submit2(queue.handle, commands, wait, l.semaphore, value)
                                : submit1(queue.handle, commands, wait, l.semaphore, value);
    device_.check(result, "vkQueueSubmit");
    l.last = value;
    CounterCells::add(device_.counters.submissions);
    return {role, value};
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
    // No timeline gets there by work; some drivers move it there when they lose the device.
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
        // Short work ends before a sleeping thread could be woken; longer work loses nothing by this look.
        const auto limit = std::min(timeout, nanoseconds(std::chrono::microseconds(100)));
        while (steady_clock::now() - start < limit)
            if (passed(point)) return true;
    }
    VkSemaphoreWaitInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO};
    info.semaphoreCount = 1;
    info.pSemaphores = &point.semaphore;
    info.pValues = &point.value;
    for (;;) {
        // In slices, so that a device another thread saw lost ends this wait too.
        const nanoseconds left =
            timeout == nanoseconds::max() ? timeout : timeout - (steady_clock::now() - start);
        const nanoseconds slice = std::clamp(left, nanoseconds(0), nanoseconds(std::chrono::seconds(2)));
        const VkResult result =
            device_.vk.vkWaitSemaphores(device_.handle(), &info, static_cast<std::uint64_t>(slice.count()));
        device_.check(result, "vkWaitSemaphores");
        device_.require_usable("wait");
        // A wait on a lost device may end with success or never; only the counter tells what was done.
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
            // For lack of memory, say; that says nothing of the work.
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    }
    device_.wedge();
}

void Timelines::wait_all() {
    for (std::size_t role = 0; role < kQueueRoles; ++role) wait(last(static_cast<QueueRole>(role)));
}

}  // namespace weft::core
