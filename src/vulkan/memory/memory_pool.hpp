// SPDX-License-Identifier: Apache-2.0
// Device memory by kind: large blocks cut by an offset allocator, whole blocks for very large ranges.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <weft/memory_report.hpp>

#include "base/name_totals.hpp"
#include "plan/work/offset_allocator.hpp"
#include "trace/trace_recorder.hpp"
#include "vulkan/memory/block_source.hpp"
#include "vulkan/memory/cuda_pinned_source.hpp"

namespace weft::core {

/// The use of memory; MemoryPlan says which memory type has which use.
enum class MemoryKind : std::uint32_t { device = 0, upload = 1, download = 2, mapped_device = 3 };
inline constexpr std::size_t kMemoryKinds = 4;

struct PoolBlock;

/// A range of a block. Released through the pool.
struct MemoryRange {
    PoolBlock* block = nullptr;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    std::uint64_t offset = 0, bytes = 0;
    std::byte* mapped = nullptr;  // start of the range, for host-visible kinds
    std::uint64_t block_bytes = 0;
};

class MemoryPool {
  public:
    MemoryPool(Device& device, TraceRecorder& trace);
    ~MemoryPool();
    MemoryPool(const MemoryPool&) = delete;
    MemoryPool& operator=(const MemoryPool&) = delete;

    /// Errors: out_of_memory - the device's, the budget's, or Config::memory_limit.
    MemoryRange allocate(BlockSource& source, std::uint64_t bytes, std::uint64_t alignment);
    /// A dedicated block of exactly that size. `source` must live until it is released.
    MemoryRange allocate_whole(BlockSource& source, std::uint64_t bytes);
    void release(MemoryRange& range) noexcept;

    /// Counts a buffer in the report.
    void count_buffer(const std::string& name, std::uint64_t bytes);
    void uncount_buffer(const std::string& name, std::uint64_t bytes) noexcept;

    /// Gives empty blocks back to the driver.
    void trim() noexcept;
    MemoryReport report() const;
    /// Where a buffer of that kind and size comes from.
    BlockSource& source(MemoryKind kind, std::uint64_t bytes);
    /// The driver's source for that kind, for use when another source has no memory left.
    BlockSource& driver_source(MemoryKind kind) { return *sources_[static_cast<std::size_t>(kind)]; }
    /// Who allocates large blocks of page-locked memory and, if the planned allocator cannot, why.
    std::string host_allocator();
    /// A listener of the trace that starts from the memory in use at that moment.
    std::shared_ptr<TraceSink> add_listener(std::uint64_t max_events);
    /// false: host writes need a flush, host reads an invalidate.
    bool coherent(const BlockSource& source) const;
    void set_limit(std::uint64_t bytes) { limit_ = bytes; }
    std::uint64_t limit() const { return limit_; }

  private:
    PoolBlock& new_block(BlockSource& source, std::uint64_t bytes);
    PoolBlock& add_block(BlockSource& source, std::uint64_t bytes, bool dedicated);
    /// The size of a block that buffers share.
    std::uint64_t common_block_bytes() const;
    bool wants_own_block(std::uint64_t bytes) const;
    void require_budget(const BlockSource& source, std::uint64_t bytes);
    std::uint32_t heap_of(const BlockSource& source) const;
    bool own(const BlockSource* source) const;
    /// The bytes of empty dedicated blocks in a heap.
    std::uint64_t kept_bytes(std::uint32_t heap) const;
    /// Whether a dedicated block that has become empty is kept for the next request of its size: on devices
    /// with memory of their own, without Config::memory_limit, within a share of the heap.
    bool keeps(const PoolBlock& block) const;
    PoolBlock* kept_block(const BlockSource& source, std::uint64_t bytes);
    bool drop_kept() noexcept;  ///< whether there were any
    std::vector<MemoryReport::Heap> heaps() const;
    void drop(std::vector<std::unique_ptr<PoolBlock>>::iterator block) noexcept;

    Device& device_;
    TraceRecorder& trace_;
    std::uint64_t limit_ = 0;
    std::array<std::unique_ptr<BlockSource>, kMemoryKinds> sources_;
    std::unique_ptr<CudaHostSource> cuda_;  // null: not planned
    mutable std::mutex mutex_;
    std::vector<std::unique_ptr<PoolBlock>> blocks_;
    std::uint64_t block_bytes_ = 0;
    std::uint64_t live_bytes_ = 0, peak_bytes_ = 0, live_buffers_ = 0;
    NameTotals names_;
};

}  // namespace weft::core
