// SPDX-License-Identifier: Apache-2.0
#include "plan/work/offset_allocator.hpp"

#include <algorithm>

#include <cassert>
#include <iterator>
#include <utility>

namespace weft::core {

OffsetAllocator::OffsetAllocator(std::uint64_t size) : size_(size) {
    add_nodes();
    if (size > 0) insert_free(0, size);
}

void OffsetAllocator::add_nodes() {
    ByOffset offsets;
    BySize sizes;
    offsets.emplace(0, 0);
    sizes.emplace(0, 0);
    spare_.reserve(nodes_ + 1);
    spare_.push_back({offsets.extract(offsets.begin()), sizes.extract(sizes.begin())});
    ++nodes_;
}

std::optional<std::uint64_t> OffsetAllocator::allocate(std::uint64_t bytes, std::uint64_t alignment) {
    assert(alignment != 0 && (alignment & (alignment - 1)) == 0);
    if (bytes == 0 || alignment == 0) return std::nullopt;
    // Ascending sizes: the first range that still fits behind its alignment gap is the best fit.
    for (auto entry = free_by_size_.lower_bound({bytes, 0}); entry != free_by_size_.end(); ++entry) {
        const auto [free_bytes, free_offset] = *entry;
        const std::uint64_t gap = (0 - free_offset) & (alignment - 1);
        if (gap > free_bytes - bytes) continue;
        if (nodes_ < live_ + 2) add_nodes();
        ++live_;
        erase_free(free_by_offset_.find(free_offset));
        if (gap > 0) insert_free(free_offset, gap);
        const std::uint64_t offset = free_offset + gap, rest = free_bytes - gap - bytes;
        if (rest > 0) insert_free(offset + bytes, rest);
        used_ += bytes;
        return offset;
    }
    return std::nullopt;
}

void OffsetAllocator::release(std::uint64_t offset, std::uint64_t bytes) noexcept {
    assert(bytes > 0 && bytes <= used_ && offset <= size_ && bytes <= size_ - offset);
    used_ -= bytes;
    --live_;
    auto next = free_by_offset_.lower_bound(offset);
    assert(next == free_by_offset_.end() || offset + bytes <= next->first);
    if (next != free_by_offset_.begin()) {
        const auto previous = std::prev(next);
        assert(previous->first + previous->second <= offset);
        if (previous->first + previous->second == offset) {
            offset = previous->first;
            bytes += previous->second;
            erase_free(previous);
        }
    }
    if (next != free_by_offset_.end() && next->first == offset + bytes) {
        bytes += next->second;
        erase_free(next);
    }
    insert_free(offset, bytes);
}

std::uint64_t OffsetAllocator::largest_free() const {
    return free_by_size_.empty() ? 0 : free_by_size_.rbegin()->first;
}

void OffsetAllocator::insert_free(std::uint64_t offset, std::uint64_t bytes) noexcept {
    Nodes nodes = std::move(spare_.back());
    spare_.pop_back();
    nodes.by_offset.key() = offset;
    nodes.by_offset.mapped() = bytes;
    nodes.by_size.value() = {bytes, offset};
    free_by_offset_.insert(std::move(nodes.by_offset));
    free_by_size_.insert(std::move(nodes.by_size));
}

void OffsetAllocator::erase_free(ByOffset::iterator it) noexcept {
    auto by_size = free_by_size_.extract({it->second, it->first});
    spare_.push_back({free_by_offset_.extract(it), std::move(by_size)});
}

MappedRange flush_range(std::uint64_t offset, std::uint64_t bytes, std::uint64_t atom,
                        std::uint64_t allocation_bytes) {
    atom = std::max<std::uint64_t>(atom, 1);
    offset = std::min(offset, allocation_bytes);
    bytes = std::min(bytes, allocation_bytes - offset);
    const std::uint64_t begin = offset - offset % atom;
    if (bytes == 0) return {begin, 0};
    const std::uint64_t end = offset + bytes;
    const std::uint64_t past = end % atom;
    const std::uint64_t missing = past == 0 ? 0 : atom - past;
    return {begin, end - begin + std::min(missing, allocation_bytes - end)};
}

}  // namespace weft::core
