// SPDX-License-Identifier: Apache-2.0
#include "vulkan/device/commands.hpp"

#include <array>
#include <vector>

namespace weft::core {
namespace {

struct Scope {
    VkPipelineStageFlags stage;
    VkAccessFlags2 access;
};

/// A program has storage buffers and nothing else. A barrier that says so leaves the caches of textures and
/// constants as they are.
constexpr VkAccessFlags2 kKernelReads = VK_ACCESS_2_SHADER_STORAGE_READ_BIT,
                         kKernelWrites = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT;

/// Barriers without synchronization2 cannot name storage buffers. All other flags have the same values there.
VkAccessFlags old_access(VkAccessFlags2 access) {
    if ((access & kKernelReads) != 0) access |= VK_ACCESS_2_SHADER_READ_BIT;
    if ((access & kKernelWrites) != 0) access |= VK_ACCESS_2_SHADER_WRITE_BIT;
    return static_cast<VkAccessFlags>(access & ~(kKernelReads | kKernelWrites));
}

Scope scope_of(AccessScope scope) {
    switch (scope.kind) {
        case AccessScope::transfer_read:
            return {VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT};
        case AccessScope::transfer_write:
            return {VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT};
        case AccessScope::kernel:
            return {VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, kKernelReads | kKernelWrites};
        case AccessScope::any_device:
            return {VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                    VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_SHADER_READ_BIT |
                        VK_ACCESS_SHADER_WRITE_BIT};
        case AccessScope::any_copy:
            return {VK_PIPELINE_STAGE_TRANSFER_BIT,
                    VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT};
        case AccessScope::host_read:
            break;
    }
    return {VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT};
}

void record_barrier(const Device& device, VkCommandBuffer commands, Scope source, Scope target) {
    if (device.plan().synchronization2) {
        VkMemoryBarrier2 memory{VK_STRUCTURE_TYPE_MEMORY_BARRIER_2};
        memory.srcStageMask = source.stage;
        memory.srcAccessMask = source.access;
        memory.dstStageMask = target.stage;
        memory.dstAccessMask = target.access;
        VkDependencyInfo info{VK_STRUCTURE_TYPE_DEPENDENCY_INFO};
        info.memoryBarrierCount = 1;
        info.pMemoryBarriers = &memory;
        device.vk.vkCmdPipelineBarrier2(commands, &info);
        return;
    }
    const VkMemoryBarrier memory{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, old_access(source.access),
                                 old_access(target.access)};
    device.vk.vkCmdPipelineBarrier(commands, source.stage, target.stage, 0, 1, &memory, 0, nullptr, 0,
                                   nullptr);
}

}  // namespace

VkCommandPool make_command_pool(Device& device, std::uint32_t family, VkCommandPoolCreateFlags flags) {
    const VkCommandPoolCreateInfo info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, nullptr, flags, family};
    VkCommandPool pool = VK_NULL_HANDLE;
    device.check(device.vk.vkCreateCommandPool(device.handle(), &info, nullptr, &pool),
                 "vkCreateCommandPool");
    CounterCells::add(device.counters.objects);
    return pool;
}

void allocate_commands(Device& device, VkCommandPool pool, std::span<VkCommandBuffer> commands) {
    VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    info.commandPool = pool;
    info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    info.commandBufferCount = static_cast<std::uint32_t>(commands.size());
    device.check(device.vk.vkAllocateCommandBuffers(device.handle(), &info, commands.data()),
                 "vkAllocateCommandBuffers");
    CounterCells::add(device.counters.objects, commands.size());
}

void begin_commands(Device& device, VkCommandBuffer commands, VkCommandBufferUsageFlags usage) {
    const VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr, usage, nullptr};
    device.check(device.vk.vkBeginCommandBuffer(commands, &info), "vkBeginCommandBuffer");
}

void end_commands(Device& device, VkCommandBuffer commands) {
    device.check(device.vk.vkEndCommandBuffer(commands), "vkEndCommandBuffer");
}

VkQueryPool make_timestamps(Device& device, std::uint32_t count) {
    VkQueryPoolCreateInfo info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
    info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    info.queryCount = count;
    VkQueryPool pool = VK_NULL_HANDLE;
    device.check(device.vk.vkCreateQueryPool(device.handle(), &info, nullptr, &pool), "vkCreateQueryPool");
    CounterCells::add(device.counters.objects);
    return pool;
}

void write_timestamp(const Device& device, VkCommandBuffer commands, VkQueryPool pool, std::uint32_t query) {
    device.vk.vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool, query);
}

void read_timestamps(Device& device, VkQueryPool pool, std::uint32_t first, std::span<std::uint64_t> ticks) {
    device.check(device.vk.vkGetQueryPoolResults(device.handle(), pool, first,
                                                 static_cast<std::uint32_t>(ticks.size()), ticks.size_bytes(),
                                                 ticks.data(), sizeof(std::uint64_t), VK_QUERY_RESULT_64_BIT),
                 "vkGetQueryPoolResults");
}

VkDescriptorPool make_sets(Device& device, std::span<VkDescriptorSet> sets) {
    const auto count = static_cast<std::uint32_t>(sets.size());
    const std::vector<VkDescriptorSetLayout> layouts(count, device.set_layout());
    const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, count * device.plan().storage_buffers};
    VkDescriptorPoolCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
    info.maxSets = count;
    info.poolSizeCount = 1;
    info.pPoolSizes = &size;
    VkDescriptorPool pool = VK_NULL_HANDLE;
    device.check(device.vk.vkCreateDescriptorPool(device.handle(), &info, nullptr, &pool),
                 "vkCreateDescriptorPool");
    VkDescriptorSetAllocateInfo allocate{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
    allocate.descriptorPool = pool;
    allocate.descriptorSetCount = count;
    allocate.pSetLayouts = layouts.data();
    const VkResult result = device.vk.vkAllocateDescriptorSets(device.handle(), &allocate, sets.data());
    if (result != VK_SUCCESS) device.vk.vkDestroyDescriptorPool(device.handle(), pool, nullptr);
    device.check(result, "vkAllocateDescriptorSets");
    CounterCells::add(device.counters.objects, 1 + sets.size());
    return pool;
}

void write_set(Device& device, VkDescriptorSet set, std::span<const SetEntry> entries) {
    if (entries.empty()) return;
    std::array<VkDescriptorBufferInfo, 16> ranges;
    ranges.fill(entries.front().range);
    for (const SetEntry& entry : entries) ranges[entry.binding] = entry.range;
    VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    write.dstSet = set;
    write.descriptorCount = device.plan().storage_buffers;  // continues from binding to binding
    write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    write.pBufferInfo = ranges.data();
    device.vk.vkUpdateDescriptorSets(device.handle(), 1, &write, 0, nullptr);
    CounterCells::add(device.counters.descriptor_updates);
}

void barrier(const Device& device, VkCommandBuffer commands, AccessScope from, AccessScope to) {
    // Where nothing was written, order alone would do; one kind of barrier serves all.
    record_barrier(device, commands, scope_of(from), scope_of(to));
}

void hazard_barrier(const Device& device, VkCommandBuffer commands, const HazardBarrier& needed,
                    WorkStage to) {
    constexpr std::array<Scope, kWorkStages> kWrites{{
        {VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT},
        {VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, kKernelWrites},
    }};
    Scope from{0, 0};
    for (std::size_t i = 0; i < kWorkStages; ++i) {
        if (!needed.after[i]) continue;
        from.stage |= kWrites[i].stage;
        if (needed.memory) from.access |= kWrites[i].access;
    }
    Scope target{VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, kKernelReads | kKernelWrites};
    if (to == WorkStage::transfer)
        target = {VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT};
    if (!needed.memory) target.access = 0;  // nothing was written: the order is enough
    record_barrier(device, commands, from, target);
}

}  // namespace weft::core
