// SPDX-License-Identifier: Apache-2.0
#include "vulkan/device/barriers.hpp"

#include <array>

namespace weft::core {
namespace {

struct Scope {
    VkPipelineStageFlags stage;
    VkAccessFlags access;
};

/// Old and synchronization2 flags have the same values for these stages and accesses.
Scope scope_of(AccessScope scope) {
    switch (scope.kind) {
        case AccessScope::transfer_read:
            return {VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT};
        case AccessScope::transfer_write:
            return {VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT};
        case AccessScope::kernel:
            return {VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                    VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT};
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
    const VkMemoryBarrier memory{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, source.access, target.access};
    device.vk.vkCmdPipelineBarrier(commands, source.stage, target.stage, 0, 1, &memory, 0, nullptr, 0,
                                   nullptr);
}

}  // namespace

void write_set(Device& device, VkDescriptorSet set, std::span<const SetEntry> entries) {
    if (entries.empty()) return;
    std::array<VkDescriptorBufferInfo, 16> ranges;
    ranges.fill(entries.front().range);
    for (const SetEntry& entry : entries) ranges[entry.binding] = entry.range;
    VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    write.dstSet = set;
    write.descriptorCount = device.plan().storage_buffers;  // runs on from binding to binding
    write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    write.pBufferInfo = ranges.data();
    device.vk.vkUpdateDescriptorSets(device.handle(), 1, &write, 0, nullptr);
    CounterCells::add(device.counters.descriptor_updates);
}

void barrier(const Device& device, VkCommandBuffer commands, AccessScope from, AccessScope to) {
    // A read-after-anything hazard of the source needs no memory dependency, but one barrier form serves all.
    record_barrier(device, commands, scope_of(from), scope_of(to));
}

void hazard_barrier(const Device& device, VkCommandBuffer commands, const HazardBarrier& needed,
                    WorkStage to) {
    constexpr std::array<Scope, kWorkStages> kWrites{{
        {VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT},
        {VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT},
    }};
    Scope from{0, 0};
    for (std::size_t i = 0; i < kWorkStages; ++i) {
        if (!needed.after[i]) continue;
        from.stage |= kWrites[i].stage;
        if (needed.memory) from.access |= kWrites[i].access;
    }
    Scope target{VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                 VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT};
    if (to == WorkStage::transfer)
        target = {VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT};
    if (!needed.memory) target.access = 0;  // nothing was written: the order is enough
    record_barrier(device, commands, from, target);
}

}  // namespace weft::core
