// SPDX-License-Identifier: Apache-2.0
// Hooks of recorded commands: they check that the family and the limits as described allow them, and make
// timestamps of few bits.
#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "fault/fake_driver.hpp"

namespace weft_fault {
namespace {

const FakeDriver& fake() {
    return State::get().fake();
}

constexpr VkPipelineStageFlags2 kComputeStages = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;

void check_stages(VkCommandBuffer commands, VkPipelineStageFlags2 stages, const char* what) {
    const FamilyLie* family = family_of(commands);
    if (family != nullptr && !family->compute && !family->graphics && (stages & kComputeStages) != 0)
        State::get().violation(std::string(what) + ": compute stage on a family without compute");
}

std::mutex mutex;
std::unordered_map<VkQueryPool, std::unordered_map<std::uint32_t, std::uint32_t>> query_bits;
std::optional<std::uint64_t> first_tick;

/// The number of bits that a query's value has when it is read.
void note_query(VkCommandBuffer commands, VkQueryPool pool, std::uint32_t query) {
    const FamilyLie* family = family_of(commands);
    if (family == nullptr) return;
    if (family->timestamp_bits == 0)
        State::get().violation("vkCmdWriteTimestamp: on a family without timestamps");
    const std::lock_guard lock(mutex);
    query_bits[pool][query] = family->timestamp_bits;
}

std::uint64_t cut(std::uint64_t tick, std::uint32_t bits) {
    if (bits == 0 || bits >= 64 || !fake().ticks_to_wrap) return tick;
    if (!first_tick) first_tick = tick;
    return (tick - *first_tick - *fake().ticks_to_wrap) & ((std::uint64_t{1} << bits) - 1);
}

}  // namespace

void act(Tag<Id::vkUpdateDescriptorSets>, VkDevice device, std::uint32_t count,
         const VkWriteDescriptorSet* writes, std::uint32_t copies, const VkCopyDescriptorSet* copied) {
    std::vector<VkWriteDescriptorSet> changed(writes, writes + count);
    std::vector<std::vector<VkDescriptorBufferInfo>> ranges(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        if (writes[i].pBufferInfo == nullptr) continue;
        ranges[i].assign(writes[i].pBufferInfo, writes[i].pBufferInfo + writes[i].descriptorCount);
        for (VkDescriptorBufferInfo& r : ranges[i]) {
            if (r.range == VK_WHOLE_SIZE) continue;
            if (fake().max_storage_range != 0 && r.range > fake().max_storage_range)
                State::get().violation("vkUpdateDescriptorSets: range beyond maxStorageBufferRange");
            r.offset = fold(r.buffer, r.offset, r.range, "vkUpdateDescriptorSets");
        }
        changed[i].pBufferInfo = ranges[i].data();
    }
    real<Id::vkUpdateDescriptorSets>()(device, count, changed.data(), copies, copied);
}

void act(Tag<Id::vkCmdDispatch>, VkCommandBuffer commands, std::uint32_t x, std::uint32_t y,
         std::uint32_t z) {
    const FamilyLie* family = family_of(commands);
    if (family != nullptr && !family->compute)
        State::get().violation("vkCmdDispatch: on a family without compute");
    if (fake().max_workgroup_count_x != 0 && x > fake().max_workgroup_count_x)
        State::get().violation("vkCmdDispatch: more workgroups than the x axis takes");
    real<Id::vkCmdDispatch>()(commands, x, y, z);
}

void act(Tag<Id::vkCmdCopyBuffer>, VkCommandBuffer commands, VkBuffer source, VkBuffer target,
         std::uint32_t count, const VkBufferCopy* regions) {
    std::vector<VkBufferCopy> changed(regions, regions + count);
    for (VkBufferCopy& r : changed) {
        r.srcOffset = fold(source, r.srcOffset, r.size, "vkCmdCopyBuffer");
        r.dstOffset = fold(target, r.dstOffset, r.size, "vkCmdCopyBuffer");
    }
    real<Id::vkCmdCopyBuffer>()(commands, source, target, count, changed.data());
}

void act(Tag<Id::vkCmdFillBuffer>, VkCommandBuffer commands, VkBuffer target, VkDeviceSize offset,
         VkDeviceSize bytes, std::uint32_t value) {
    if (bytes != VK_WHOLE_SIZE) offset = fold(target, offset, bytes, "vkCmdFillBuffer");
    real<Id::vkCmdFillBuffer>()(commands, target, offset, bytes, value);
}

void act(Tag<Id::vkCmdPipelineBarrier>, VkCommandBuffer commands, VkPipelineStageFlags from,
         VkPipelineStageFlags to, VkDependencyFlags flags, std::uint32_t memory_count,
         const VkMemoryBarrier* memory, std::uint32_t buffer_count, const VkBufferMemoryBarrier* buffer,
         std::uint32_t image_count, const VkImageMemoryBarrier* image) {
    check_stages(commands, from | to, "vkCmdPipelineBarrier");
    std::vector<VkBufferMemoryBarrier> changed(buffer, buffer + buffer_count);
    for (VkBufferMemoryBarrier& b : changed) {
        if (b.size != VK_WHOLE_SIZE) b.offset = fold(b.buffer, b.offset, b.size, "vkCmdPipelineBarrier");
        if (!fake().families.empty()) b.srcQueueFamilyIndex = b.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
    }
    real<Id::vkCmdPipelineBarrier>()(commands, from, to, flags, memory_count, memory, buffer_count,
                                     changed.data(), image_count, image);
}

void act(Tag<Id::vkCmdPipelineBarrier2>, VkCommandBuffer commands, const VkDependencyInfo* wanted) {
    VkDependencyInfo info = *wanted;
    if (fake().hide_synchronization2) State::get().violation("vkCmdPipelineBarrier2: not available");
    for (std::uint32_t i = 0; i < info.memoryBarrierCount; ++i) {
        const VkMemoryBarrier2& b = info.pMemoryBarriers[i];
        check_stages(commands, b.srcStageMask | b.dstStageMask, "vkCmdPipelineBarrier2");
        // Between kernels, whose programs have storage buffers alone, no other caches are to be emptied.
        constexpr VkAccessFlags2 kAny = VK_ACCESS_2_SHADER_READ_BIT | VK_ACCESS_2_SHADER_WRITE_BIT;
        if ((b.srcStageMask | b.dstStageMask) == VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT &&
            ((b.srcAccessMask | b.dstAccessMask) & kAny) != 0)
            State::get().violation("vkCmdPipelineBarrier2: more accesses than those of storage buffers");
    }
    std::vector<VkBufferMemoryBarrier2> changed(info.pBufferMemoryBarriers,
                                                info.pBufferMemoryBarriers + info.bufferMemoryBarrierCount);
    for (VkBufferMemoryBarrier2& b : changed) {
        check_stages(commands, b.srcStageMask | b.dstStageMask, "vkCmdPipelineBarrier2");
        if (b.size != VK_WHOLE_SIZE) b.offset = fold(b.buffer, b.offset, b.size, "vkCmdPipelineBarrier2");
        if (!fake().families.empty()) b.srcQueueFamilyIndex = b.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
    }
    info.pBufferMemoryBarriers = changed.data();
    real<Id::vkCmdPipelineBarrier2>()(commands, &info);
}

void act(Tag<Id::vkCmdWriteTimestamp>, VkCommandBuffer commands, VkPipelineStageFlagBits stage,
         VkQueryPool pool, std::uint32_t query) {
    note_query(commands, pool, query);
    real<Id::vkCmdWriteTimestamp>()(commands, stage, pool, query);
}

void act(Tag<Id::vkCmdWriteTimestamp2>, VkCommandBuffer commands, VkPipelineStageFlags2 stage,
         VkQueryPool pool, std::uint32_t query) {
    note_query(commands, pool, query);
    real<Id::vkCmdWriteTimestamp2>()(commands, stage, pool, query);
}

VkResult act(Tag<Id::vkGetQueryPoolResults>, VkDevice device, VkQueryPool pool, std::uint32_t first,
             std::uint32_t count, std::size_t bytes, void* out, VkDeviceSize stride,
             VkQueryResultFlags flags) {
    const VkResult result =
        real<Id::vkGetQueryPoolResults>()(device, pool, first, count, bytes, out, stride, flags);
    if (fake().families.empty() || (flags & VK_QUERY_RESULT_64_BIT) == 0) return result;
    const std::lock_guard lock(mutex);
    for (std::uint32_t i = 0; i < count; ++i) {
        std::uint64_t tick = 0;
        std::byte* at = static_cast<std::byte*>(out) + i * stride;
        std::memcpy(&tick, at, sizeof tick);
        tick = cut(tick, query_bits[pool][first + i]);
        std::memcpy(at, &tick, sizeof tick);
    }
    return result;
}

}  // namespace weft_fault
