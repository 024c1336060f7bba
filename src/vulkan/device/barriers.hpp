// SPDX-License-Identifier: Apache-2.0
// Barriers between commands, and the writing of descriptor sets: what every recorder of commands needs.
#pragma once

#include <cstdint>
#include <span>

#include "plan/work/hazards.hpp"
#include "vulkan/device/device.hpp"

namespace weft::core {

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
