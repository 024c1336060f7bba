// SPDX-License-Identifier: Apache-2.0
#include "vulkan/memory/round_trip.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "vulkan/device/commands.hpp"
#include "vulkan/device/timeline.hpp"

namespace weft::core {
namespace {

/// Everything one copy needs; destroyed together.
class RoundTrip {
  public:
    RoundTrip(Device& device, const MemoryBlock& block, std::uint64_t bytes)
        : device_(device), block_(block), bytes_(bytes) {}
    ~RoundTrip() {
        const auto& vk = device_.vk;
        const VkDevice handle = device_.handle();
        if (pool_ != VK_NULL_HANDLE) vk.vkDestroyCommandPool(handle, pool_, nullptr);
        if (done_ != VK_NULL_HANDLE) vk.vkDestroySemaphore(handle, done_, nullptr);
        if (host_ != VK_NULL_HANDLE) vk.vkDestroyBuffer(handle, host_, nullptr);
        if (middle_ != VK_NULL_HANDLE) vk.vkDestroyBuffer(handle, middle_, nullptr);
        if (memory_ != VK_NULL_HANDLE) vk.vkFreeMemory(handle, memory_, nullptr);
    }
    RoundTrip(const RoundTrip&) = delete;
    RoundTrip& operator=(const RoundTrip&) = delete;

    void make() {
        host_ = make_buffer(block_.bytes, VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT);
        middle_ = make_buffer(bytes_, 0);
        check(device_.vk.vkBindBufferMemory(device_.handle(), host_, block_.memory, 0), "vkBindBufferMemory");
        VkMemoryRequirements needs;
        device_.vk.vkGetBufferMemoryRequirements(device_.handle(), middle_, &needs);
        VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
        info.allocationSize = needs.size;
        info.memoryTypeIndex = device_.plan().memory.device;
        check(device_.vk.vkAllocateMemory(device_.handle(), &info, nullptr, &memory_), "vkAllocateMemory");
        check(device_.vk.vkBindBufferMemory(device_.handle(), middle_, memory_, 0), "vkBindBufferMemory");
        done_ = make_timeline(device_, "weft round trip", false);
    }

    void run() {
        const VkCommandBuffer commands = record();
        const std::uint64_t value = 1;
        VkTimelineSemaphoreSubmitInfo values{VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO};
        values.signalSemaphoreValueCount = 1;
        values.pSignalSemaphoreValues = &value;
        VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO, &values};
        submit.commandBufferCount = 1;
        submit.pCommandBuffers = &commands;
        submit.signalSemaphoreCount = 1;
        submit.pSignalSemaphores = &done_;
        {
            PhysicalQueue& queue = device_.queue(QueueRole::upload);
            const std::lock_guard lock(queue.mutex);
            device_.check(device_.vk.vkQueueSubmit(queue.handle, 1, &submit, VK_NULL_HANDLE),
                          "vkQueueSubmit");
        }
        VkSemaphoreWaitInfo wait{VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO};
        wait.semaphoreCount = 1;
        wait.pSemaphores = &done_;
        wait.pValues = &value;
        device_.check(device_.vk.vkWaitSemaphores(device_.handle(), &wait, ~std::uint64_t{0}),
                      "vkWaitSemaphores");
    }

  private:
    VkBuffer make_buffer(std::uint64_t bytes, VkExternalMemoryHandleTypeFlags types) {
        VkExternalMemoryBufferCreateInfo external{VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO};
        external.handleTypes = types;
        VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
        if (types != 0) info.pNext = &external;
        info.size = bytes;
        info.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
        VkBuffer buffer = VK_NULL_HANDLE;
        check(device_.vk.vkCreateBuffer(device_.handle(), &info, nullptr, &buffer), "vkCreateBuffer");
        return buffer;
    }

    VkCommandBuffer record() {
        pool_ = make_command_pool(device_, device_.queue(QueueRole::upload).slot.family);
        VkCommandBuffer commands = VK_NULL_HANDLE;
        allocate_commands(device_, pool_, {&commands, 1});
        begin_commands(device_, commands, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
        const VkBufferCopy there{0, 0, bytes_}, back{0, bytes_, bytes_};
        device_.vk.vkCmdCopyBuffer(commands, host_, middle_, 1, &there);
        barrier(device_, commands, {AccessScope::transfer_write}, {AccessScope::transfer_read});
        device_.vk.vkCmdCopyBuffer(commands, middle_, host_, 1, &back);
        barrier(device_, commands, {AccessScope::transfer_write}, {AccessScope::host_read});
        end_commands(device_, commands);
        return commands;
    }

    Device& device_;
    const MemoryBlock& block_;
    std::uint64_t bytes_;
    VkBuffer host_ = VK_NULL_HANDLE, middle_ = VK_NULL_HANDLE;
    VkDeviceMemory memory_ = VK_NULL_HANDLE;
    VkSemaphore done_ = VK_NULL_HANDLE;
    VkCommandPool pool_ = VK_NULL_HANDLE;
};

}  // namespace

std::string check_round_trip(Device& device, const MemoryBlock& block) {
    const std::uint64_t bytes = block.bytes / 2;
    auto* words = reinterpret_cast<std::uint32_t*>(block.mapped);
    const std::uint64_t count = bytes / sizeof(std::uint32_t);
    for (std::uint64_t i = 0; i < count; ++i) words[i] = static_cast<std::uint32_t>(i) * 2654435761u;
    std::fill(words + count, words + 2 * count, 0u);
    RoundTrip trip(device, block, bytes);
    trip.make();
    trip.run();
    for (std::uint64_t i = 0; i < count; ++i)
        if (words[count + i] != static_cast<std::uint32_t>(i) * 2654435761u)
            return "word " + std::to_string(i) + " came back as " + std::to_string(words[count + i]);
    return {};
}

}  // namespace weft::core
