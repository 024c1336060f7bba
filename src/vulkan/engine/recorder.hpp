// SPDX-License-Identifier: Apache-2.0
// Command buffers and descriptor sets of a bundle.
#pragma once

#include <cstdint>
#include <vector>

#include "vulkan/device/barriers.hpp"
#include "vulkan/engine/staging_ring.hpp"

namespace weft::core {

/// How a bundle is submitted.
enum class SubmitMode : std::uint64_t {
    kernel_only,  // one submission: the kernel works on memory the host reaches
    fused,        // one submission: upload, kernel, download on the compute queue
    split,        // three submissions, ordered by timelines
    paced,        // two: upload; kernel and download by a copy shader
};

/// Where in Recording::queries a stage's begin is; its end comes next. Of stages in one command buffer, one
/// begins where the one before it ends: a timestamp makes the device pause.
std::uint32_t first_query(SubmitMode shape, QueueRole stage);

/// Everything the recorded commands depend on; equal keys mean equal commands.
void recording_key(const Bundle& work, const Pipeline& pipeline, SubmitMode shape, bool stage_times,
                   std::vector<std::uint64_t>& key);

/// Writes descriptor sets and records the command buffers that `shape` needs.
void record(Context& context, const Bundle& work, const Pipeline& pipeline, SubmitMode shape, bool stage_times,
            Recording& recording);

}  // namespace weft::core
