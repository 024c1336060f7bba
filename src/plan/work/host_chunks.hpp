// SPDX-License-Identifier: Apache-2.0
// How arrays in host memory are cut into chunks for CUDA, which has no engine with a plan. Pure.
#pragma once

#include <cstdint>

#include <weft/batch.hpp>

namespace weft::core {

/// What a process asked for; 0: not asked for.
struct HostChunkSettings {
    std::uint64_t chunk_elements = 0;
    std::uint32_t ring_slots = 0, copy_threads = 0;
};

/// Errors: invalid_argument - a value out of range; the text names `function`, member and variable.
void check_host_chunks(const char* function, const HostChunkSettings& settings);

struct HostChunkPlan {
    std::uint64_t chunk_elements = 1;  // a multiple of what the work needs
    std::uint32_t ring_slots = 4;
    bool operator==(const HostChunkPlan&) const = default;
};

/// `element_bytes`: in and out together; `multiple`: of elements that a chunk has. BatchOptions win over
/// `settings`. A size that was asked for is taken as it is, rounded down to the multiple. Errors:
/// invalid_argument - options out of range.
HostChunkPlan plan_host_chunks(const char* function, std::uint64_t element_bytes, std::uint64_t multiple,
                               const BatchOptions& options, const HostChunkSettings& settings);

/// Threads that copy on a machine with `cores`.
std::uint32_t host_copy_threads(const HostChunkSettings& settings, std::uint32_t cores);

}  // namespace weft::core
