// SPDX-License-Identifier: Apache-2.0
// Command buffers and descriptor sets of a bundle.
#pragma once

#include <cstdint>
#include <vector>

#include "vulkan/device/barriers.hpp"
#include "vulkan/engine/staging_ring.hpp"

namespace weft::core {

/// Index in Recording::queries of a stage's begin; its end comes next. A timestamp makes the device pause, so
/// stages in one command buffer share one: the end of a stage is the begin of the next.
std::uint32_t first_query(SubmitMode mode, QueueRole stage);

/// Everything the recorded commands depend on; equal keys mean equal commands.
void recording_key(const Bundle& work, const Pipeline& pipeline, bool stage_times,
                   std::vector<std::uint64_t>& key);

/// Writes descriptor sets and records the command buffers that the bundle's SubmitMode needs.
void record(Device& device, const Bundle& work, const Pipeline& pipeline, bool stage_times,
            Recording& recording);

}  // namespace weft::core
