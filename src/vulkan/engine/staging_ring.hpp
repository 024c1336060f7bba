// SPDX-License-Identifier: Apache-2.0
// The ring of slots, and the commands recorded for their bundles. Everything of a slot is made once: memory
// areas, descriptor sets, command buffers, query pools.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "plan/work/bundle.hpp"
#include "vulkan/context/context.hpp"

namespace weft::core {

/// Command buffers recorded for one kind of bundle. A slot keeps the recordings of the last kRecordings
/// kinds: in a batch from page-locked memory every bundle is of another kind, and the next batch has the same
/// kinds again.
struct Recording {
    std::vector<std::uint64_t> key;  // everything that the commands depend on; empty: not recorded
    std::array<VkCommandBuffer, kQueueRoles> commands{};
    std::array<VkDescriptorSet, kMaxBundleChunks> sets{};
    VkDescriptorPool descriptors = VK_NULL_HANDLE;
    VkQueryPool queries = VK_NULL_HANDLE;  // begin and end of each stage, by QueueRole
    std::uint64_t last_use = 0;
};

/// Index in Recording::queries of the begin of a stage; its end comes next. A timestamp makes the device
/// pause, so stages in one command buffer share it: the end of a stage is the begin of the next.
std::uint32_t first_query(SubmitMode mode, QueueRole stage);

/// Everything the recorded commands depend on; equal keys mean equal commands.
void recording_key(const Bundle& work, const Pipeline& pipeline, bool stage_times,
                   std::vector<std::uint64_t>& key);
/// Dispatches of a bundle: one for each chunk, or one for each part of a chunk that is cut.
std::uint32_t dispatches_of(const Bundle& work);

/// Writes descriptor sets and records the command buffers that the bundle's SubmitMode needs. `cut` runs the
/// parts of chunks that are cut.
void record(Device& device, const Bundle& work, const Pipeline& pipeline, const CutPipeline* cut,
            bool stage_times, Recording& recording);

class Slot {
  public:
    /// `index`: place in its ring.
    Slot(const std::shared_ptr<Context>& context, std::size_t index);
    ~Slot();
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;

    /// Grows areas that are too small; contents are lost. Only while the slot is idle. Errors: out_of_memory.
    void reserve(const AreaNeeds& needs);
    /// Frees all areas.
    void shrink() noexcept;
    Areas areas() const;
    std::uint32_t index() const { return index_; }

    /// The recording for `key`; `fresh` when it must be recorded first. Errors: out_of_memory.
    Recording& recording(const std::vector<std::uint64_t>& key, bool& fresh);

    // The bundle under way.
    Bundle work;
    Recording* active = nullptr;
    Token done;
    SteadyTime launched;  // when it was submitted
    bool timed = false;   // its commands hold timestamps

  private:
    static constexpr std::size_t kRecordings = 32;
    void make_pools();
    void make_objects(Recording& r);
    void destroy(Recording& r) noexcept;
    void destroy() noexcept;

    std::shared_ptr<Context> context_;
    std::uint32_t index_;
    std::string name_;
    std::array<std::shared_ptr<BufferObject>, kAreas> areas_;
    std::array<VkCommandPool, kQueueRoles> pools_{};
    std::vector<std::unique_ptr<Recording>> recordings_;  // made when they are needed
    std::uint64_t uses_ = 0;
};

/// The slots of one batch or pipeline, and scratch memory that keeps its capacity between batches.
struct StagingRing {
    std::vector<std::unique_ptr<Slot>> slots;
    std::vector<std::uint64_t> key;
    std::vector<JobSpan> spans;
    std::vector<PlannedChunk> chunks;
};

/// The rings that no batch uses at the moment. May be used from many threads.
class IdleRings {
  public:
    /// A ring of `slots` slots for the caller alone. The ring given back last is reused first, so a steady
    /// state always gets the same one. Errors: out_of_memory.
    std::unique_ptr<StagingRing> acquire(const std::shared_ptr<Context>& context, std::uint32_t slots);
    void give_back(std::unique_ptr<StagingRing> ring) noexcept;
    void clear() noexcept;

  private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<StagingRing>> rings_;
};

}  // namespace weft::core
