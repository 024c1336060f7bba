// SPDX-License-Identifier: Apache-2.0
// Simulates many queues on the driver's single queue, and checks the rules that Vulkan leaves to its users.
#include <atomic>
#include <memory>
#include <unordered_map>

#include "fault/fake_driver.hpp"

namespace weft_fault {
namespace {

const FakeDriver& fake() {
    return State::get().fake();
}

struct Queue {
    VkQueue real = VK_NULL_HANDLE;
    VkDevice device = VK_NULL_HANDLE;
    std::uint32_t family = 0, index = 0;
    std::atomic<int> users{0};
};

struct Signals {
    VkQueue by = VK_NULL_HANDLE;
    std::uint64_t last = 0;
};

std::mutex mutex;
std::unordered_map<VkQueue, std::unique_ptr<Queue>> queues;
std::unordered_map<VkCommandPool, std::uint32_t> pool_families;
std::unordered_map<VkCommandBuffer, std::pair<VkCommandPool, std::uint32_t>> commands_of;
std::unordered_map<VkSemaphore, Signals> signals;

VkQueue give_queue(VkDevice device, std::uint32_t family, std::uint32_t index, VkQueue one) {
    const std::lock_guard lock(mutex);
    for (const auto& [handle, queue] : queues)
        if (queue->device == device && queue->family == family && queue->index == index) return handle;
    auto queue = std::make_unique<Queue>();
    queue->real = one;
    queue->device = device;
    queue->family = family;
    queue->index = index;
    const VkQueue handle = fake().families.empty() ? one : reinterpret_cast<VkQueue>(queue.get());
    queues[handle] = std::move(queue);
    return handle;
}

/// A queue belongs to one thread at a time, and waiting for the device counts as a use of all queues.
class Use {
  public:
    Use(VkQueue handle, const char* what) {
        const std::lock_guard lock(mutex);
        queue_ = queues.at(handle).get();
        if (queue_->users.fetch_add(1) != 0)
            State::get().violation(std::string(what) + ": the queue is in another thread's hands");
    }
    ~Use() { queue_->users.fetch_sub(1); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    VkQueue real() const { return queue_->real; }
    VkDevice device() const { return queue_->device; }
    std::uint32_t family() const { return queue_->family; }

  private:
    Queue* queue_;
};

void check_commands(const Use& queue, VkCommandBuffer commands) {
    if (fake().families.empty()) return;
    const std::lock_guard lock(mutex);
    const auto it = commands_of.find(commands);
    if (it == commands_of.end() || it->second.second != queue.family())
        State::get().violation("vkQueueSubmit: commands of another family");
}

void check_signal(VkQueue queue, VkSemaphore semaphore, std::uint64_t value) {
    const std::lock_guard lock(mutex);
    Signals& s = signals[semaphore];
    if (s.by != VK_NULL_HANDLE && s.by != queue)
        State::get().violation("vkQueueSubmit: two queues signal one timeline");
    if (value <= s.last) State::get().violation("vkQueueSubmit: a timeline does not rise");
    s.by = queue;
    s.last = value;
}

/// A wait for work that comes later in the same queue would never end; weft always submits in order.
void check_wait(VkSemaphore semaphore, std::uint64_t value) {
    const std::lock_guard lock(mutex);
    if (signals[semaphore].last < value)
        State::get().violation("vkQueueSubmit: waits for work that was not submitted yet");
}

}  // namespace

const FamilyLie* family_of(VkCommandBuffer commands) {
    if (fake().families.empty()) return nullptr;
    const std::lock_guard lock(mutex);
    const auto it = commands_of.find(commands);
    return it == commands_of.end() ? nullptr : &fake().families[it->second.second];
}

VkDevice device_of(VkQueue queue) {
    const std::lock_guard lock(mutex);
    return queues.at(queue)->device;
}

void forget_queues(VkDevice device) {
    const std::lock_guard lock(mutex);
    std::erase_if(queues, [&](const auto& entry) { return entry.second->device == device; });
    signals.clear();
}

void act(Tag<Id::vkGetDeviceQueue>, VkDevice device, std::uint32_t family, std::uint32_t index,
         VkQueue* out) {
    const bool lied = !fake().families.empty();
    real<Id::vkGetDeviceQueue>()(device, lied ? 0 : family, lied ? 0 : index, out);
    *out = give_queue(device, family, index, *out);
}

void act(Tag<Id::vkGetDeviceQueue2>, VkDevice device, const VkDeviceQueueInfo2* wanted, VkQueue* out) {
    act(Tag<Id::vkGetDeviceQueue>{}, device, wanted->queueFamilyIndex, wanted->queueIndex, out);
}

VkResult act(Tag<Id::vkQueueSubmit>, VkQueue handle, std::uint32_t count, const VkSubmitInfo* infos,
             VkFence fence) {
    const Use queue(handle, "vkQueueSubmit");
    for (std::uint32_t i = 0; i < count; ++i) {
        const VkSubmitInfo& info = infos[i];
        for (std::uint32_t k = 0; k < info.commandBufferCount; ++k)
            check_commands(queue, info.pCommandBuffers[k]);
        for_each_in_chain(const_cast<void*>(info.pNext), [&](VkBaseOutStructure* s) {
            if (s->sType != VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO) return;
            const auto& t = *reinterpret_cast<VkTimelineSemaphoreSubmitInfo*>(s);
            for (std::uint32_t k = 0; k < info.waitSemaphoreCount; ++k)
                check_wait(info.pWaitSemaphores[k], t.pWaitSemaphoreValues[k]);
            for (std::uint32_t k = 0; k < info.signalSemaphoreCount; ++k)
                check_signal(handle, info.pSignalSemaphores[k], t.pSignalSemaphoreValues[k]);
        });
    }
    const std::lock_guard lock(State::get().queue_mutex());
    if (const auto lost = State::get().if_lost(Id::vkQueueSubmit, queue.device())) return *lost;
    return real<Id::vkQueueSubmit>()(queue.real(), count, infos, fence);
}

VkResult act(Tag<Id::vkQueueSubmit2>, VkQueue handle, std::uint32_t count, const VkSubmitInfo2* infos,
             VkFence fence) {
    const Use queue(handle, "vkQueueSubmit2");
    if (fake().hide_synchronization2) State::get().violation("vkQueueSubmit2: not available");
    for (std::uint32_t i = 0; i < count; ++i) {
        const VkSubmitInfo2& info = infos[i];
        for (std::uint32_t k = 0; k < info.commandBufferInfoCount; ++k)
            check_commands(queue, info.pCommandBufferInfos[k].commandBuffer);
        for (std::uint32_t k = 0; k < info.waitSemaphoreInfoCount; ++k)
            check_wait(info.pWaitSemaphoreInfos[k].semaphore, info.pWaitSemaphoreInfos[k].value);
        for (std::uint32_t k = 0; k < info.signalSemaphoreInfoCount; ++k)
            check_signal(handle, info.pSignalSemaphoreInfos[k].semaphore,
                         info.pSignalSemaphoreInfos[k].value);
    }
    const std::lock_guard lock(State::get().queue_mutex());
    if (const auto lost = State::get().if_lost(Id::vkQueueSubmit2, queue.device())) return *lost;
    return real<Id::vkQueueSubmit2>()(queue.real(), count, infos, fence);
}

VkResult act(Tag<Id::vkQueueWaitIdle>, VkQueue handle) {
    const Use queue(handle, "vkQueueWaitIdle");
    const std::lock_guard lock(State::get().queue_mutex());
    return real<Id::vkQueueWaitIdle>()(queue.real());
}

VkResult act(Tag<Id::vkDeviceWaitIdle>, VkDevice device) {
    std::vector<std::unique_ptr<Use>> uses;
    std::vector<VkQueue> all;
    {
        const std::lock_guard lock(mutex);
        for (const auto& [handle, queue] : queues)
            if (queue->device == device) all.push_back(handle);
    }
    for (const VkQueue handle : all) uses.push_back(std::make_unique<Use>(handle, "vkDeviceWaitIdle"));
    const std::lock_guard lock(State::get().queue_mutex());
    return real<Id::vkDeviceWaitIdle>()(device);
}

VkResult act(Tag<Id::vkSetDebugUtilsObjectNameEXT>, VkDevice device,
             const VkDebugUtilsObjectNameInfoEXT* wanted) {
    VkDebugUtilsObjectNameInfoEXT info = *wanted;
    if (info.objectType == VK_OBJECT_TYPE_QUEUE) {
        const std::lock_guard lock(mutex);
        const auto it = queues.find(reinterpret_cast<VkQueue>(info.objectHandle));
        if (it != queues.end()) info.objectHandle = value_of(it->second->real);
    }
    return real<Id::vkSetDebugUtilsObjectNameEXT>()(device, &info);
}

VkResult act(Tag<Id::vkCreateCommandPool>, VkDevice device, const VkCommandPoolCreateInfo* wanted,
             const VkAllocationCallbacks* allocator, VkCommandPool* out) {
    VkCommandPoolCreateInfo info = *wanted;
    if (!fake().families.empty()) info.queueFamilyIndex = 0;
    const VkResult result = real<Id::vkCreateCommandPool>()(device, &info, allocator, out);
    if (result != VK_SUCCESS) return result;
    const std::lock_guard lock(mutex);
    pool_families[*out] = wanted->queueFamilyIndex;
    return result;
}

void act(Tag<Id::vkDestroyCommandPool>, VkDevice device, VkCommandPool pool,
         const VkAllocationCallbacks* allocator) {
    {
        const std::lock_guard lock(mutex);
        pool_families.erase(pool);
        std::erase_if(commands_of, [&](const auto& entry) { return entry.second.first == pool; });
    }
    real<Id::vkDestroyCommandPool>()(device, pool, allocator);
}

VkResult act(Tag<Id::vkAllocateCommandBuffers>, VkDevice device, const VkCommandBufferAllocateInfo* info,
             VkCommandBuffer* out) {
    const VkResult result = real<Id::vkAllocateCommandBuffers>()(device, info, out);
    if (result != VK_SUCCESS) return result;
    const std::lock_guard lock(mutex);
    for (std::uint32_t i = 0; i < info->commandBufferCount; ++i)
        commands_of[out[i]] = {info->commandPool, pool_families[info->commandPool]};
    return result;
}

void act(Tag<Id::vkFreeCommandBuffers>, VkDevice device, VkCommandPool pool, std::uint32_t count,
         const VkCommandBuffer* commands) {
    {
        const std::lock_guard lock(mutex);
        for (std::uint32_t i = 0; i < count; ++i) commands_of.erase(commands[i]);
    }
    real<Id::vkFreeCommandBuffers>()(device, pool, count, commands);
}

}  // namespace weft_fault
