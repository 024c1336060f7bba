// SPDX-License-Identifier: Apache-2.0
#include "vulkan/engine/recorder.hpp"

#include <array>
#include <cstring>
#include <string_view>

namespace weft::core {
namespace {

class Commands {
  public:
    Commands(Device& device, const Recording& recording, QueueRole role, SubmitMode mode, bool stage_times)
        : device_(device),
          recording_(recording),
          mode_(mode),
          stage_times_(stage_times && device.timestamp_bits(role) != 0),
          handle_(recording.commands[static_cast<std::size_t>(role)]) {
        const VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr, 0, nullptr};
        device_.check(device_.vk.vkBeginCommandBuffer(handle_, &info), "vkBeginCommandBuffer");
    }
    void end() {
        device_.check(device_.vk.vkEndCommandBuffer(handle_), "vkEndCommandBuffer");
        CounterCells::add(device_.counters.recordings);
    }
    void begin_stage(QueueRole stage, std::string_view label) {
        device_.begin_label(handle_, label);
        const bool begun = mode_ == SubmitMode::fused && stage != QueueRole::upload;
        if (!begun) time(first_query(mode_, stage));
    }
    void end_stage(QueueRole stage) {
        time(first_query(mode_, stage) + 1);
        device_.end_label(handle_);
    }
    VkCommandBuffer handle() const { return handle_; }

  private:
    void time(std::uint32_t query) {
        if (!stage_times_) return;
        // Bottom of pipe for both: on a queue that runs its commands in order, that is when the earlier work
        // ended.
        device_.vk.vkCmdWriteTimestamp(handle_, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, recording_.queries,
                                       query);
    }

    Device& device_;
    const Recording& recording_;
    SubmitMode mode_;
    bool stage_times_;
    VkCommandBuffer handle_;
};

void copy_regions(const Device& device, VkCommandBuffer commands, const std::vector<CopyRegion>& regions) {
    // Neighbouring regions of the same two buffers go into one command.
    std::array<VkBufferCopy, 2 * kMaxJobSpans * kMaxBundleChunks> batch;
    for (std::size_t i = 0; i < regions.size();) {
        std::uint32_t count = 0;
        const CopyRegion& first = regions[i];
        for (; i < regions.size() && count < batch.size() && regions[i].source == first.source &&
               regions[i].target == first.target;
             ++i)
            batch[count++] = {regions[i].source_offset, regions[i].target_offset, regions[i].bytes};
        device.vk.vkCmdCopyBuffer(commands, first.source->handle(), first.target->handle(), count,
                                  batch.data());
    }
}

void write_sets(Device& device, const Bundle& work, const Recording& recording) {
    std::array<SetEntry, 2 * kMaxJobSpans> entries;
    for (std::size_t i = 0; i < work.chunks.size(); ++i) {
        const ChunkDispatch& chunk = work.chunks[i];
        for (std::uint32_t k = 0; k < chunk.bound_count; ++k) {
            const BoundRange& bound = chunk.bound[k];
            entries[k] = {bound.binding, {bound.buffer->handle(), bound.offset, bound.bytes}};
        }
        write_set(device, recording.sets[i], {entries.data(), chunk.bound_count});
    }
}

void dispatch_chunks(const Device& device, VkCommandBuffer commands, const Bundle& work,
                     const Pipeline& pipeline, const Recording& recording) {
    device.vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.handle);
    for (std::size_t i = 0; i < work.chunks.size(); ++i) {
        const ChunkDispatch& chunk = work.chunks[i];
        if (chunk.bound_count != 0)
            device.vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                                              device.pipeline_layout(), 0, 1, &recording.sets[i], 0, nullptr);
        if (chunk.push_bytes != 0)
            device.vk.vkCmdPushConstants(commands, device.pipeline_layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                         (chunk.push_bytes + 3) / 4 * 4, chunk.push.data());
        device.vk.vkCmdDispatch(commands, chunk.workgroups.x, chunk.workgroups.y, 1);
    }
}

}  // namespace

std::uint32_t first_query(SubmitMode mode, QueueRole stage) {
    return (mode == SubmitMode::fused ? 1 : 2) * static_cast<std::uint32_t>(stage);
}

void recording_key(const Bundle& work, const Pipeline& pipeline, bool stage_times,
                   std::vector<std::uint64_t>& key) {
    key.clear();
    key.push_back(static_cast<std::uint64_t>(work.submit) * 2 + (stage_times ? 1 : 0));
    key.push_back(reinterpret_cast<std::uintptr_t>(&pipeline));
    for (const ChunkDispatch& chunk : work.chunks) {
        key.push_back((std::uint64_t{chunk.workgroups.x} << 32) | chunk.workgroups.y);
        key.push_back((chunk.bound_count << 16) | chunk.push_bytes);
        for (std::uint32_t at = 0; at < chunk.push_bytes; at += 8) {
            std::uint64_t word = 0;
            std::memcpy(&word, chunk.push.data() + at, 8);
            key.push_back(word);
        }
        for (std::uint32_t k = 0; k < chunk.bound_count; ++k) {
            key.push_back(chunk.bound[k].buffer->id());
            key.push_back(chunk.bound[k].offset);
            key.push_back(chunk.bound[k].bytes);
        }
    }
    for (const auto* regions : {&work.uploads, &work.downloads}) {
        key.push_back(regions->size());
        for (const CopyRegion& region : *regions) {
            key.push_back(region.source->id());
            key.push_back(region.source_offset);
            key.push_back(region.target->id());
            key.push_back(region.target_offset);
            key.push_back(region.bytes);
        }
    }
}

void record(Device& device, const Bundle& work, const Pipeline& pipeline, bool stage_times,
            Recording& recording) {
    // A failure half way must not leave a key that promises these commands.
    std::vector<std::uint64_t> key;
    key.swap(recording.key);
    write_sets(device, work, recording);
    constexpr AccessScope kRead{AccessScope::transfer_read}, kWrite{AccessScope::transfer_write},
        kKernel{AccessScope::kernel}, kHost{AccessScope::host_read};
    const SubmitMode mode = work.submit;
    const bool split = mode == SubmitMode::split;
    if (split) {
        Commands upload(device, recording, QueueRole::upload, mode, stage_times);
        upload.begin_stage(QueueRole::upload, "upload");
        copy_regions(device, upload.handle(), work.uploads);
        upload.end_stage(QueueRole::upload);
        upload.end();
    }
    Commands compute(device, recording, QueueRole::compute, mode, stage_times);
    if (mode == SubmitMode::fused) {
        compute.begin_stage(QueueRole::upload, "upload");
        copy_regions(device, compute.handle(), work.uploads);
        barrier(device, compute.handle(), kWrite, kKernel);
        compute.end_stage(QueueRole::upload);
    }
    compute.begin_stage(QueueRole::compute, pipeline.name);
    dispatch_chunks(device, compute.handle(), work, pipeline, recording);
    compute.end_stage(QueueRole::compute);
    if (mode == SubmitMode::fused) {
        barrier(device, compute.handle(), kKernel, kRead);
        compute.begin_stage(QueueRole::download, "download");
        copy_regions(device, compute.handle(), work.downloads);
        compute.end_stage(QueueRole::download);
        barrier(device, compute.handle(), kWrite, kHost);
    } else if (!split) {
        barrier(device, compute.handle(), kKernel, kHost);
    }
    compute.end();
    if (split) {
        Commands download(device, recording, QueueRole::download, mode, stage_times);
        download.begin_stage(QueueRole::download, "download");
        copy_regions(device, download.handle(), work.downloads);
        download.end_stage(QueueRole::download);
        barrier(device, download.handle(), kWrite, kHost);
        download.end();
    }
    recording.key.swap(key);
}

}  // namespace weft::core
