// SPDX-License-Identifier: Apache-2.0
// What every recorder of commands needs: command buffers, timestamps, descriptor sets, and barriers between
// commands.
#pragma once

#include <cstdint>
#include <span>

#include "plan/work/hazards.hpp"
#include "vulkan/device/device.hpp"

namespace weft::core {

// What is made here belongs to the caller. Errors: out_of_memory, device_lost, driver.

VkCommandPool make_command_pool(Device& device, std::uint32_t family, VkCommandPoolCreateFlags flags = 0);
void allocate_commands(Device& device, VkCommandPool pool, std::span<VkCommandBuffer> commands);
void begin_commands(Device& device, VkCommandBuffer commands, VkCommandBufferUsageFlags usage = 0);
void end_commands(Device& device, VkCommandBuffer commands);

VkQueryPool make_timestamps(Device& device, std::uint32_t count);
/// Takes the time when all commands before it have ended.
void write_timestamp(const Device& device, VkCommandBuffer commands, VkQueryPool pool, std::uint32_t query);
/// Of work that is done: reading never waits.
void read_timestamps(Device& device, VkQueryPool pool, std::uint32_t first, std::span<std::uint64_t> ticks);

/// A pool of descriptor sets, all of them handed out in `sets`.
VkDescriptorPool make_sets(Device& device, std::span<VkDescriptorSet> sets);
/// One storage buffer of a descriptor set.
struct SetEntry {
    std::uint32_t binding = 0;
    VkDescriptorBufferInfo range{};
};
/// Writes every binding of a set: those of `entries`, and the first entry into all others, so that a set that
/// served another program before names no buffer that may be gone.
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
