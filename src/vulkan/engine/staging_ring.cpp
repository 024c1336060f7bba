// SPDX-License-Identifier: Apache-2.0
#include "vulkan/engine/staging_ring.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "vulkan/device/commands.hpp"

namespace weft::core {
namespace {

constexpr std::array<MemoryKind, kAreas> kAreaKinds{MemoryKind::upload, MemoryKind::download,
                                                    MemoryKind::device, MemoryKind::device,
                                                    MemoryKind::mapped_device};
constexpr std::array<const char*, kAreas> kAreaNames{" upload staging", " download staging", " device inputs",
                                                     " device outputs", " mapped device inputs"};

class Commands {
  public:
    Commands(Device& device, const Recording& recording, QueueRole role, SubmitMode mode, bool stage_times)
        : device_(device),
          recording_(recording),
          mode_(mode),
          stage_times_(stage_times && device.timestamp_bits(role) != 0),
          handle_(recording.commands[static_cast<std::size_t>(role)]) {
        begin_commands(device, handle_);
    }
    void end() {
        end_commands(device_, handle_);
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
        if (stage_times_) write_timestamp(device_, handle_, recording_.queries, query);
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

/// Calls act(part) for each part of a chunk that is cut.
template <class Act>
void for_each_part(const ChunkDispatch& chunk, const Act& act) {
    const WorkgroupGrid& grid = chunk.workgroups;
    for (std::uint64_t first = 0; first < std::uint64_t{grid.x} * grid.y;) {
        const WorkgroupPart part = part_at(grid, first, chunk.part_workgroups);
        act(part);
        first += part.count();
    }
}

void dispatch_parts(const Device& device, VkCommandBuffer commands, const ChunkDispatch& chunk,
                    const CutPipeline& cut) {
    if (cut.grid_offset) {
        const std::array<std::uint32_t, 3> grid{chunk.workgroups.x, chunk.workgroups.y, 1};
        device.vk.vkCmdPushConstants(commands, device.pipeline_layout(), VK_SHADER_STAGE_COMPUTE_BIT,
                                     *cut.grid_offset, sizeof grid, grid.data());
    }
    for_each_part(chunk, [&](const WorkgroupPart& part) {
        device.vk.vkCmdDispatchBase(commands, part.x, part.y, 0, part.columns, part.rows, 1);
    });
}

void dispatch_chunks(const Device& device, VkCommandBuffer commands, const Bundle& work,
                     const Pipeline& pipeline, const CutPipeline* cut, const Recording& recording) {
    VkPipeline bound = VK_NULL_HANDLE;
    for (std::size_t i = 0; i < work.chunks.size(); ++i) {
        const VkPipeline wanted = work.chunks[i].part_workgroups != 0 ? cut->handle : pipeline.handle;
        if (bound != wanted)
            device.vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, bound = wanted);
        const ChunkDispatch& chunk = work.chunks[i];
        if (chunk.bound_count != 0)
            device.vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                                              device.pipeline_layout(), 0, 1, &recording.sets[i], 0, nullptr);
        if (chunk.push_bytes != 0)
            device.vk.vkCmdPushConstants(commands, device.pipeline_layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                         (chunk.push_bytes + 3) / 4 * 4, chunk.push.data());
        if (chunk.part_workgroups != 0)
            dispatch_parts(device, commands, chunk, *cut);
        else
            device.vk.vkCmdDispatch(commands, chunk.workgroups.x, chunk.workgroups.y, 1);
    }
}

}  // namespace

Slot::Slot(const std::shared_ptr<Context>& context, std::size_t index)
    : context_(context), index_(static_cast<std::uint32_t>(index)), name_("slot " + std::to_string(index)) {
    try {
        make_pools();
    } catch (...) {
        destroy();
        throw;
    }
}

void Slot::make_pools() {
    Device& device = context_->device;
    for (std::size_t role = 0; role < kQueueRoles; ++role) {
        pools_[role] = make_command_pool(device, device.plan().queues.slots[role].family,
                                         VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT);
        device.set_name(VK_OBJECT_TYPE_COMMAND_POOL, pools_[role], name_ + " " + kRoleNames[role]);
    }
}

void Slot::make_objects(Recording& r) {
    Device& device = context_->device;
    r.descriptors = make_sets(device, r.sets);
    device.set_name(VK_OBJECT_TYPE_DESCRIPTOR_POOL, r.descriptors, name_);
    for (std::size_t role = 0; role < kQueueRoles; ++role) {
        allocate_commands(device, pools_[role], {&r.commands[role], 1});
        device.set_name(VK_OBJECT_TYPE_COMMAND_BUFFER, r.commands[role], name_ + " " + kRoleNames[role]);
    }
    if (device.plan().timestamps) {
        r.queries = make_timestamps(device, 2 * kQueueRoles);
        device.set_name(VK_OBJECT_TYPE_QUERY_POOL, r.queries, name_);
    }
}

void Slot::destroy(Recording& r) noexcept {
    Device& device = context_->device;
    for (std::size_t role = 0; role < kQueueRoles; ++role)
        if (r.commands[role] != VK_NULL_HANDLE)
            device.vk.vkFreeCommandBuffers(device.handle(), pools_[role], 1, &r.commands[role]);
    if (r.queries != VK_NULL_HANDLE) device.vk.vkDestroyQueryPool(device.handle(), r.queries, nullptr);
    if (r.descriptors != VK_NULL_HANDLE)
        device.vk.vkDestroyDescriptorPool(device.handle(), r.descriptors, nullptr);
}

void Slot::destroy() noexcept {
    Device& device = context_->device;
    if (device.untouchable()) return;
    for (const auto& r : recordings_) destroy(*r);
    for (VkCommandPool pool : pools_)
        if (pool != VK_NULL_HANDLE) device.vk.vkDestroyCommandPool(device.handle(), pool, nullptr);
}

Slot::~Slot() {
    destroy();
}

void Slot::reserve(const AreaNeeds& needs) {
    for (std::size_t i = 0; i < kAreas; ++i) {
        if (needs[i] == 0 || (areas_[i] && areas_[i]->bytes() >= needs[i])) continue;
        // The old area is freed first, because the new one may need its memory.
        areas_[i].reset();
        // At least a quarter MiB, so that growing job sizes do not reallocate at every step.
        constexpr std::uint64_t kLeast = std::uint64_t{256} << 10;
        try {
            areas_[i] = BufferObject::create(context_, kAreaKinds[i], std::max(needs[i], kLeast),
                                             name_ + kAreaNames[i]);
        } catch (const Error& e) {
            if (e.code() != Errc::out_of_memory || needs[i] >= kLeast) throw;
            areas_[i] = BufferObject::create(context_, kAreaKinds[i], needs[i], name_ + kAreaNames[i]);
        }
    }
}

void Slot::shrink() noexcept {
    for (auto& area : areas_) area.reset();
}

Areas Slot::areas() const {
    Areas out{};
    for (std::size_t i = 0; i < kAreas; ++i)
        if (areas_[i]) out[i] = {areas_[i].get(), areas_[i]->mapped()};
    return out;
}

Recording& Slot::recording(const std::vector<std::uint64_t>& key, bool& fresh) {
    ++uses_;
    for (const auto& r : recordings_) {
        if (r->key != key) continue;
        r->last_use = uses_;
        fresh = false;
        return *r;
    }
    if (recordings_.size() < kRecordings) {
        recordings_.reserve(kRecordings);
        auto made = std::make_unique<Recording>();
        try {
            make_objects(*made);
        } catch (...) {
            destroy(*made);
            throw;
        }
        recordings_.push_back(std::move(made));
    }
    // A new one has never been used, so it is the oldest.
    Recording& oldest =
        **std::min_element(recordings_.begin(), recordings_.end(),
                           [](const auto& a, const auto& b) { return a->last_use < b->last_use; });
    oldest.key = key;
    oldest.last_use = uses_;
    fresh = true;
    return oldest;
}

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
        key.push_back(chunk.part_workgroups);
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

std::uint32_t dispatches_of(const Bundle& work) {
    std::uint32_t count = 0;
    for (const ChunkDispatch& chunk : work.chunks) {
        if (chunk.part_workgroups == 0)
            ++count;
        else
            for_each_part(chunk, [&](const WorkgroupPart&) { ++count; });
    }
    return count;
}

void record(Device& device, const Bundle& work, const Pipeline& pipeline, const CutPipeline* cut,
            bool stage_times, Recording& recording) {
    // After a failure half way the recording must not have a key.
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
    dispatch_chunks(device, compute.handle(), work, pipeline, cut, recording);
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

std::unique_ptr<StagingRing> IdleRings::acquire(const std::shared_ptr<Context>& context,
                                                std::uint32_t slots) {
    std::unique_ptr<StagingRing> ring;
    {
        const std::lock_guard lock(mutex_);
        // Only a ring with as many slots: cutting a larger one would lose what its slots hold.
        const auto found = std::find_if(rings_.rbegin(), rings_.rend(),
                                        [&](const auto& idle) { return idle->slots.size() == slots; });
        if (found != rings_.rend()) {
            ring = std::move(*found);
            rings_.erase(std::next(found).base());
        }
    }
    if (!ring) ring = std::make_unique<StagingRing>();
    while (ring->slots.size() < slots)
        ring->slots.push_back(std::make_unique<Slot>(context, ring->slots.size()));
    return ring;
}

void IdleRings::give_back(std::unique_ptr<StagingRing> ring) noexcept {
    if (!ring) return;
    try {
        const std::lock_guard lock(mutex_);
        rings_.push_back(std::move(ring));
    } catch (...) {
        // Without room in the list the ring is freed instead of kept.
    }
}

void IdleRings::clear() noexcept {
    std::vector<std::unique_ptr<StagingRing>> idle;  // freed after the lock is released
    const std::lock_guard lock(mutex_);
    idle.swap(rings_);
}

}  // namespace weft::core
