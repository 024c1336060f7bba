// SPDX-License-Identifier: Apache-2.0
#include "plan/work/host_chunks.hpp"

#include <algorithm>
#include <string>

#include <weft/error.hpp>

#include "plan/device/setting_limits.hpp"

namespace weft::core {
namespace {

constexpr std::uint64_t kChunkBytes = std::uint64_t{24} << 20;
constexpr std::uint32_t kSlots = 4;
constexpr std::uint32_t kCopyThreads = 16;

/// 0 asks for nothing.
void check(const char* function, const char* member, std::uint64_t got, std::uint64_t most) {
    check_setting(function, member, got, 0, most);
}

}  // namespace

void check_host_chunks(const char* function, const HostChunkSettings& settings) {
    check(function, "chunk_elements (GPU_STREAM_CHUNK_ELEMS)", settings.chunk_elements, kMostChunkElements);
    check(function, "ring_slots (WEFT_SLOTS)", settings.ring_slots, kMostRingSlots);
    check(function, "copy_threads (WEFT_COPY_THREADS)", settings.copy_threads, kMostCopyThreads);
}

HostChunkPlan plan_host_chunks(const char* function, std::uint64_t element_bytes, std::uint64_t multiple,
                               const BatchOptions& options, const HostChunkSettings& settings) {
    check(function, "BatchOptions::chunk_elements", options.chunk_elements, kMostChunkElements);
    check(function, "BatchOptions::ring_slots", options.ring_slots, kMostRingSlots);
    std::uint64_t wanted = options.chunk_elements != 0 ? options.chunk_elements : settings.chunk_elements;
    if (wanted == 0) wanted = kChunkBytes / std::max<std::uint64_t>(1, element_bytes);
    HostChunkPlan plan;
    plan.chunk_elements = std::max<std::uint64_t>(1, wanted / multiple) * multiple;
    plan.ring_slots = options.ring_slots != 0    ? options.ring_slots
                      : settings.ring_slots != 0 ? settings.ring_slots
                                                 : kSlots;
    return plan;
}

std::uint32_t host_copy_threads(const HostChunkSettings& settings, std::uint32_t cores) {
    if (settings.copy_threads != 0) return settings.copy_threads;
    return std::clamp(cores, 1u, kCopyThreads);  // so many fill the bus, see plan/device/device_plan.cpp
}

}  // namespace weft::core
