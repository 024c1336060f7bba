// SPDX-License-Identifier: Apache-2.0
#include "vulkan/memory/memory_pool.hpp"

#include <algorithm>
#include <bit>

namespace weft::core {

struct PoolBlock {
    BlockSource* source;
    MemoryBlock memory;
    OffsetAllocator offsets;
    bool dedicated;
};

namespace {

constexpr std::uint64_t kBlockBytes = std::uint64_t{64} << 20;
// The share of a heap, as a divisor, that empty dedicated blocks may keep: the next call often needs the same
// size, and allocating gigabytes from a GPU's driver for each call can cost more than the work. On an H200 a
// kernel matrix of 4,000 states of 16 qubits took 312 ms, of which 40 ms were work, and 45 ms with blocks
// kept and made late.
constexpr std::uint64_t kKeptShare = 8;
// For smaller buffers the kind of memory makes no difference to the speed of copies.
constexpr std::uint64_t kCudaBytes = std::uint64_t{1} << 20;

/// An empty range if the block has no room.
MemoryRange place(PoolBlock& block, std::uint64_t bytes, std::uint64_t alignment) {
    const auto offset = block.offsets.allocate(bytes, alignment);
    if (!offset) return {};
    std::byte* mapped = block.memory.mapped == nullptr ? nullptr : block.memory.mapped + *offset;
    return {&block, block.memory.memory, *offset, bytes, mapped, block.memory.bytes};
}

}  // namespace

MemoryPool::MemoryPool(Device& device, TraceRecorder& trace) : device_(device), trace_(trace) {
    const MemoryPlan& plan = device.plan().memory;
    const std::array<std::uint32_t, kMemoryKinds> types{plan.device, plan.upload, plan.download,
                                                        plan.mapped_device.value_or(plan.upload)};
    for (std::size_t i = 0; i < kMemoryKinds; ++i)
        sources_[i] = std::make_unique<DriverSource>(device, types[i]);
    if (device.plan().cuda_host_memory) cuda_ = std::make_unique<CudaHostSource>(device, plan.download);
}

BlockSource& MemoryPool::source(MemoryKind kind, std::uint64_t bytes) {
    const bool host = kind == MemoryKind::upload || kind == MemoryKind::download;
    // Two kinds of blocks waste more memory than one, which matters if the limit is small.
    const bool tight = limit_ != 0 && limit_ < 8 * kBlockBytes;
    if (host && cuda_ && !tight && bytes >= kCudaBytes && cuda_->ready()) return *cuda_;
    return driver_source(kind);
}

std::string MemoryPool::host_allocator() {
    if (!cuda_) return "vulkan";
    if (cuda_->ready()) return cuda_->name();
    return "vulkan (" + cuda_->why() + ")";
}

MemoryPool::~MemoryPool() {
    if (device_.untouchable()) return;
    for (auto& block : blocks_) block->source->give_back(block->memory);
}

bool MemoryPool::coherent(const BlockSource& source) const {
    return device_.snapshot().memory_types[source.memory_type()].host_coherent;
}

std::vector<MemoryReport::Heap> MemoryPool::heaps() const {
    VkPhysicalDeviceMemoryBudgetPropertiesEXT budget{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
    VkPhysicalDeviceMemoryProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};
    if (device_.plan().memory_budget) properties.pNext = &budget;
    device_.instance().vk.vkGetPhysicalDeviceMemoryProperties2(device_.physical(), &properties);
    std::vector<MemoryReport::Heap> heaps;
    for (std::uint32_t i = 0; i < properties.memoryProperties.memoryHeapCount; ++i) {
        const VkMemoryHeap& heap = properties.memoryProperties.memoryHeaps[i];
        heaps.push_back({heap.size, budget.heapBudget[i], budget.heapUsage[i],
                         (heap.flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0});
    }
    return heaps;
}

std::uint32_t MemoryPool::heap_of(const BlockSource& source) const {
    return device_.snapshot().memory_types[source.memory_type()].heap;
}

bool MemoryPool::own(const BlockSource* source) const {
    return source == cuda_.get() ||
           std::any_of(sources_.begin(), sources_.end(), [&](const auto& s) { return s.get() == source; });
}

std::uint64_t MemoryPool::kept_bytes(std::uint32_t heap) const {
    std::uint64_t bytes = 0;
    for (const auto& block : blocks_)
        if (block->dedicated && block->offsets.empty() && heap_of(*block->source) == heap)
            bytes += block->memory.bytes;
    return bytes;
}

bool MemoryPool::keeps(const PoolBlock& block) const {
    if (device_.snapshot().type != DeviceType::discrete || limit_ != 0 || !own(block.source)) return false;
    const std::uint32_t heap = heap_of(*block.source);
    // kept_bytes() includes this block, which is empty by now.
    return kept_bytes(heap) <= device_.snapshot().heaps[heap].bytes / kKeptShare;
}

PoolBlock* MemoryPool::kept_block(const BlockSource& source, std::uint64_t bytes) {
    for (auto& block : blocks_)
        if (block->dedicated && block->source == &source && block->offsets.empty() &&
            block->memory.bytes >= bytes && block->memory.bytes - bytes <= bytes / 8)
            return block.get();
    return nullptr;
}

bool MemoryPool::drop_kept() noexcept {
    const std::size_t before = blocks_.size();
    for (std::size_t i = before; i-- > 0;)
        if (blocks_[i]->dedicated && blocks_[i]->offsets.empty())
            drop(blocks_.begin() + static_cast<std::ptrdiff_t>(i));
    return blocks_.size() != before;
}

void MemoryPool::require_budget(const BlockSource& source, std::uint64_t bytes) {
    const auto refuse = [&](const std::string& why, std::uint64_t have) {
        throw Error(Errc::out_of_memory, "MemoryPool: " + why + " (got " + std::to_string(have) +
                                             " bytes left, need " + std::to_string(bytes) + ")");
    };
    if (limit_ != 0 && (block_bytes_ > limit_ || bytes > limit_ - block_bytes_))
        refuse("beyond Config::memory_limit", limit_ - std::min(limit_, block_bytes_));
    const std::uint32_t heap = heap_of(source);
    const MemoryReport::Heap now = heaps()[heap];
    if (bytes > now.size) refuse("larger than the heap", now.size);
    // Some drivers grant page-locked memory beyond the budget and lose the device later, so the budget is
    // binding.
    if (now.budget != 0 && (now.usage > now.budget || bytes > now.budget - now.usage))
        refuse("beyond the budget the driver grants", now.budget - std::min(now.budget, now.usage));
}

PoolBlock& MemoryPool::add_block(BlockSource& source, std::uint64_t bytes, bool dedicated) {
    require_budget(source, bytes);
    // Everything that may fail for lack of host memory comes before device memory is allocated.
    auto block = std::make_unique<PoolBlock>(PoolBlock{&source, {}, OffsetAllocator(bytes), dedicated});
    blocks_.reserve(blocks_.size() + 1);
    block->memory = source.take(bytes);
    block_bytes_ += block->memory.bytes;
    blocks_.push_back(std::move(block));
    return *blocks_.back();
}

// With a limit, blocks are so small that the unused rest of the last block of each kind matters little.
std::uint64_t MemoryPool::common_block_bytes() const {
    constexpr std::uint64_t kLeastBytes = std::uint64_t{64} << 10;
    return limit_ == 0 ? kBlockBytes : std::clamp(std::bit_floor(limit_ / 64), kLeastBytes, kBlockBytes);
}

// A request of half a block or more would leave an unusable gap.
bool MemoryPool::wants_own_block(std::uint64_t bytes) const {
    return bytes >= common_block_bytes() / 2;
}

PoolBlock& MemoryPool::new_block(BlockSource& source, std::uint64_t bytes) {
    const bool dedicated = wants_own_block(bytes);
    // Whole pages of 2 MiB, because drivers round up to them.
    const std::uint64_t page = limit_ == 0 ? std::uint64_t{2} << 20 : 1;
    std::uint64_t want = dedicated ? (bytes + page - 1) / page * page : common_block_bytes();
    if (want < bytes) want = bytes;  // rounding overflowed; the budget check names the size
    // The limit is soft: the driver may grant more, but only requests that need more ask for it.
    if (want > device_.snapshot().max_allocation_bytes) want = bytes;
    try {
        return add_block(source, want, dedicated);
    } catch (const Error& e) {
        if (e.code() != Errc::out_of_memory || (!drop_kept() && want == bytes)) throw;
    }
    return add_block(source, bytes, dedicated);
}

MemoryRange MemoryPool::allocate_whole(BlockSource& source, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    drop_kept();  // other users of the memory may need it
    return place(add_block(source, bytes, true), bytes, 1);
}

MemoryRange MemoryPool::allocate(BlockSource& source, std::uint64_t bytes, std::uint64_t alignment) {
    // Neighbours in non-coherent memory must not share an atom: a flush of one would disturb the other.
    if (!coherent(source)) {
        const std::uint64_t atom = device_.snapshot().limits.non_coherent_atom_bytes;
        alignment = std::max(alignment, atom);
        bytes = (bytes + atom - 1) / atom * atom;
    }
    const std::lock_guard lock(mutex_);
    for (auto& block : blocks_) {
        // Kinds of one memory type share blocks, but not with memory from another allocator.
        if (block->source->memory_type() != source.memory_type() ||
            block->source->handle_types() != source.handle_types() || block->dedicated)
            continue;
        if (MemoryRange range = place(*block, bytes, alignment); range.block != nullptr) {
            if (trace_.active()) trace_.pool_request(true);
            return range;
        }
    }
    PoolBlock* const kept = wants_own_block(bytes) ? kept_block(source, bytes) : nullptr;
    const MemoryRange range = place(kept != nullptr ? *kept : new_block(source, bytes), bytes, alignment);
    if (trace_.active()) trace_.pool_request(kept != nullptr);
    return range;
}

void MemoryPool::drop(std::vector<std::unique_ptr<PoolBlock>>::iterator block) noexcept {
    block_bytes_ -= (*block)->memory.bytes;
    (*block)->source->give_back((*block)->memory);
    blocks_.erase(block);
}

void MemoryPool::release(MemoryRange& range) noexcept {
    if (range.block == nullptr || device_.untouchable()) return;
    const std::lock_guard lock(mutex_);
    range.block->offsets.release(range.offset, range.bytes);
    // An empty block is kept for the next buffer, a dedicated one only within limits. trim() frees it.
    if (range.block->dedicated && !keeps(*range.block)) {
        const auto it = std::find_if(blocks_.begin(), blocks_.end(),
                                     [&](const auto& block) { return block.get() == range.block; });
        drop(it);
    }
    range = {};
}

void MemoryPool::trim() noexcept {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = blocks_.size(); i-- > 0;)
        if (blocks_[i]->offsets.empty()) drop(blocks_.begin() + static_cast<std::ptrdiff_t>(i));
}

void MemoryPool::count_buffer(const std::string& name, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    names_.add(name, bytes);
    live_bytes_ += bytes;
    ++live_buffers_;
    peak_bytes_ = std::max(peak_bytes_, live_bytes_);
    if (trace_.active()) trace_.allocation(name, bytes, live_bytes_);
}

void MemoryPool::uncount_buffer(const std::string& name, std::uint64_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    live_bytes_ -= bytes;
    --live_buffers_;
    names_.remove(name, bytes);
    if (trace_.active()) trace_.release(name, bytes, live_bytes_);
}

std::shared_ptr<TraceSink> MemoryPool::add_listener(std::uint64_t max_events) {
    const std::lock_guard lock(mutex_);
    return trace_.open(max_events, live_bytes_);
}

MemoryReport MemoryPool::report() const {
    MemoryReport report;
    report.heaps = heaps();
    const std::lock_guard lock(mutex_);
    report.live_bytes = live_bytes_;
    report.peak_bytes = peak_bytes_;
    report.live_buffers = live_buffers_;
    report.block_bytes = block_bytes_;
    report.blocks = blocks_.size();
    report.limit = limit_;
    std::uint64_t free_bytes = 0, largest = 0;
    for (std::uint32_t heap = 0; heap < report.heaps.size(); ++heap)
        report.heaps[heap].kept = kept_bytes(heap);
    for (const auto& block : blocks_) {
        free_bytes += block->offsets.size() - block->offsets.used();
        largest = std::max(largest, block->offsets.largest_free());
    }
    if (free_bytes != 0)
        report.fragmentation = 1.0 - static_cast<double>(largest) / static_cast<double>(free_bytes);
    for (const auto& [name, entry] : names_.entries())
        report.names.push_back({name, entry.total.live, entry.total.peak, entry.total.count});
    return report;
}

}  // namespace weft::core
