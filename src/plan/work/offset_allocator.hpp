// SPDX-License-Identifier: Apache-2.0
// Ranges inside a block of memory: where they are placed, and which bytes must be flushed. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace weft::core {

/// Places ranges inside a block of `size` bytes: best fit, neighbours coalesced. Not thread-safe.
class OffsetAllocator {
  public:
    explicit OffsetAllocator(std::uint64_t size);

    /// Offset of a range of `bytes` (> 0) aligned to `alignment` (a power of two), or nothing if none fits.
    /// If it throws std::bad_alloc, nothing has changed.
    std::optional<std::uint64_t> allocate(std::uint64_t bytes, std::uint64_t alignment);
    /// Takes back exactly a range that allocate() returned. Never allocates, because destructors call it.
    void release(std::uint64_t offset, std::uint64_t bytes) noexcept;

    std::uint64_t size() const { return size_; }
    std::uint64_t used() const { return used_; }
    std::uint64_t largest_free() const;
    bool empty() const { return used_ == 0; }

  private:
    using ByOffset = std::map<std::uint64_t, std::uint64_t>;           // offset -> bytes
    using BySize = std::set<std::pair<std::uint64_t, std::uint64_t>>;  // (bytes, offset)
    struct Nodes {
        ByOffset::node_type by_offset;
        BySize::node_type by_size;
    };
    void add_nodes();
    void insert_free(std::uint64_t offset, std::uint64_t bytes) noexcept;
    void erase_free(ByOffset::iterator it) noexcept;

    std::uint64_t size_, used_ = 0;
    std::uint64_t live_ = 0;  // ranges in use
    ByOffset free_by_offset_;
    BySize free_by_size_;
    /// Between `live_` ranges lie at most live_ + 1 free ones. That many nodes exist, here or in the maps.
    std::vector<Nodes> spare_;
    std::uint64_t nodes_ = 0;
};

struct MappedRange {
    std::uint64_t offset = 0, bytes = 0;
    bool operator==(const MappedRange&) const = default;
};

/// What must be flushed or invalidated for [offset, offset + bytes) of non-coherent memory: rounded out to
/// whole atoms, clamped to the end of the allocation, whose last atom may be cut short.
MappedRange flush_range(std::uint64_t offset, std::uint64_t bytes, std::uint64_t atom,
                        std::uint64_t allocation_bytes);

}  // namespace weft::core
