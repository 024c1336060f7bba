// SPDX-License-Identifier: Apache-2.0
// The ring of slots. What a slot needs is made once: memory areas, descriptor sets, command buffers, query
// pools.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "vulkan/context/context.hpp"
#include "plan/work/bundle_work.hpp"

namespace weft::core {

/// Downloads of a bundle that a copy shader makes; more are left to the copy engine.
inline constexpr std::size_t kMaxPacedRegions = 8;

/// Command buffers recorded for one shape of bundle. A slot keeps one for each of the last kRecordings shapes
/// it met: a batch from page-locked memory has another shape for every chunk, and meets all of them again.
struct Recording {
    std::vector<std::uint64_t> key;  // everything the commands depend on; empty: never recorded
    std::array<VkCommandBuffer, kQueueRoles> commands{};
    std::array<VkDescriptorSet, kMaxBundleChunks> sets{};
    std::array<VkDescriptorSet, kMaxPacedRegions> download_sets{};  // null where the plan has no copy shader
    VkDescriptorPool descriptors = VK_NULL_HANDLE;
    VkQueryPool queries = VK_NULL_HANDLE;  // begin and end of each stage, by QueueRole
    std::uint64_t last_use = 0;
};

class Slot {
  public:
    /// `index`: place in its ring, for names.
    Slot(const std::shared_ptr<Context>& context, std::size_t index);
    ~Slot();
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;

    /// Grows areas that are too small; contents are lost. Only while the slot is idle. Errors: out_of_memory.
    void reserve(const AreaNeeds& needs);
    /// Gives all areas back.
    void shrink() noexcept;
    Areas areas() const;

    /// The recording for `key`; `fresh` when it must be recorded first. Errors: out_of_memory.
    Recording& recording(const std::vector<std::uint64_t>& key, bool& fresh);

    // The bundle under way.
    Bundle work;
    Recording* active = nullptr;
    Token done;
    bool timed = false;  // its commands hold timestamps

  private:
    static constexpr std::size_t kRecordings = 32;
    void make_pools();
    void make_objects(Recording& r);
    void destroy(Recording& r) noexcept;
    void destroy() noexcept;

    std::shared_ptr<Context> context_;
    std::string name_;
    std::array<std::shared_ptr<BufferObject>, kAreas> areas_;
    std::array<VkCommandPool, kQueueRoles> pools_{};
    std::vector<std::unique_ptr<Recording>> recordings_;  // made as shapes come
    std::uint64_t uses_ = 0;
};

/// Slots of one batch or pipeline at a time, and scratch memory that keeps its capacity between batches.
struct StagingRing {
    std::vector<std::unique_ptr<Slot>> slots;
    std::vector<std::uint64_t> key;
    std::vector<JobSpan> spans;
    std::vector<ChunkSpans> chunks;
};

}  // namespace weft::core
