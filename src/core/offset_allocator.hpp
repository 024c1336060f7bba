// SPDX-License-Identifier: Apache-2.0
// Places ranges inside a block of `size` bytes: best fit, neighbours coalesced. Pure bookkeeping; not
// thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

namespace weft::core {

class OffsetAllocator {
  public:
    explicit OffsetAllocator(std::uint64_t size);

    /// Offset of a range of `bytes` (> 0) aligned to `alignment` (a power of two), or nothing if none fits.
    std::optional<std::uint64_t> allocate(std::uint64_t bytes, std::uint64_t alignment);
    /// Gives back exactly a range that allocate() returned.
    void release(std::uint64_t offset, std::uint64_t bytes);

    std::uint64_t size() const { return size_; }
    std::uint64_t used() const { return used_; }
    std::uint64_t largest_free() const;
    bool empty() const { return used_ == 0; }

  private:
    void insert_free(std::uint64_t offset, std::uint64_t bytes);
    void erase_free(std::map<std::uint64_t, std::uint64_t>::iterator it);

    std::uint64_t size_, used_ = 0;
    std::map<std::uint64_t, std::uint64_t> free_by_offset_;           // offset -> bytes
    std::set<std::pair<std::uint64_t, std::uint64_t>> free_by_size_;  // (bytes, offset)
};

}  // namespace weft::core
