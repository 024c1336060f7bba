// SPDX-License-Identifier: Apache-2.0
// How many elements of a job a chunk may have, and how many it must have, whatever is asked for. Pure.
#pragma once

#include <cstdint>

#include "plan/work/batch_check.hpp"

namespace weft::core {

struct ChunkBounds {
    std::uint64_t least = 1;  // so that the chunk's share of every span holds the block of its binding
    std::uint64_t most = 1;   // what one dispatch and one binding hold, at least 1

    /// Whether `elements` can be cut into chunks within the bounds.
    bool can_cut(std::uint64_t elements) const;
};

/// `job` has elements, and its spans fit the program.
ChunkBounds chunk_bounds(const ProgramNeeds& program, const DeviceLimits& limits, const Job& job);
/// ChunkBounds::most alone.
std::uint64_t most_chunk_elements(const ProgramNeeds& program, const DeviceLimits& limits, const Job& job);

/// Elements of the next chunk of a job of which `left` are left: `wanted`, or more where this chunk or the
/// rest would otherwise be too short. `bounds` can cut `left`, and can cut what is left then.
std::uint64_t cut_chunk(std::uint64_t left, std::uint64_t wanted, const ChunkBounds& bounds);

}  // namespace weft::core
