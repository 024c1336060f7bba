// SPDX-License-Identifier: Apache-2.0
// Command buffers and descriptor sets of a group.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/hazards.hpp"
#include "core/staging_ring.hpp"

namespace weft::core {

/// How a group is submitted.
enum class Shape : std::uint64_t {
    kernel_only,  // one submission: the kernel works on memory the host reaches
    fused,        // one submission: upload, kernel, download on the compute queue
    split,        // three submissions, ordered by timelines
    paced,        // two: upload; kernel and download by a copy shader
};

/// Where in Recording::queries a stage's begin is; its end comes next. Of stages in one command buffer, one
/// begins where the one before it ends: a timestamp makes the device pause.
std::uint32_t first_query(Shape shape, QueueRole stage);

/// Everything the recorded commands depend on; equal keys mean equal commands.
void recording_key(const GroupWork& work, const Pipeline& pipeline, Shape shape, bool stage_times,
                   std::vector<std::uint64_t>& key);

/// Writes descriptor sets and records the command buffers that `shape` needs.
void record(Context& context, const GroupWork& work, const Pipeline& pipeline, Shape shape, bool stage_times,
            Recording& recording);

/// One storage buffer of a descriptor set.
struct SetEntry {
    std::uint32_t binding = 0;
    VkDescriptorBufferInfo range{};
};
/// Writes every binding of a set: those of `entries`, and into the others the first entry, so that a set
/// which served another program before names no buffer that may be gone.
void write_set(Device& device, VkDescriptorSet set, std::span<const SetEntry> entries);

/// A barrier between two kinds of access, in the newest form the device has.
struct AccessScope {
    enum Kind { transfer_read, transfer_write, kernel, any_device, any_copy, host_read } kind;
};
void barrier(const Device& device, VkCommandBuffer commands, AccessScope from, AccessScope to);
/// The barrier that a HazardTracker asks for before a command of stage `to`.
void hazard_barrier(const Device& device, VkCommandBuffer commands, const HazardBarrier& needed,
                    WorkStage to);

}  // namespace weft::core
