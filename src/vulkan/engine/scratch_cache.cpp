// SPDX-License-Identifier: Apache-2.0
#include "vulkan/engine/scratch_cache.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/batch_call.hpp"
#include "vulkan/engine/backend_state.hpp"

namespace weft::core {

std::shared_ptr<void> ScratchCache::take(const Key& key) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = entries_.size(); i-- > 0;) {
        if (entries_[i].key != key) continue;
        std::shared_ptr<void> held = std::move(entries_[i].held);
        bytes_ -= entries_[i].bytes;
        entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i));
        return held;
    }
    return nullptr;
}

std::shared_ptr<void> ScratchCache::share(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto found =
        std::find_if(entries_.rbegin(), entries_.rend(), [&](const Entry& e) { return e.key == key; });
    if (found == entries_.rend()) return nullptr;
    std::rotate(std::prev(found.base()), found.base(), entries_.end());  // as if given back just now
    return entries_.back().held;
}

void ScratchCache::give(Key key, std::shared_ptr<void> entry, std::uint64_t bytes) noexcept {
    constexpr std::size_t kMost = 16;
    constexpr std::uint64_t kMostBytes = std::uint64_t{512} << 20;
    if (bytes > kMostBytes) return;
    std::vector<Entry> old;  // destroyed after the lock is released
    try {
        const std::lock_guard lock(mutex_);
        old.reserve(entries_.size() + 1);
        entries_.push_back({std::move(key), std::move(entry), bytes});
        bytes_ += bytes;
        std::size_t gone = 0;
        for (; entries_.size() - gone > kMost || bytes_ > kMostBytes; ++gone) bytes_ -= entries_[gone].bytes;
        const auto end = entries_.begin() + static_cast<std::ptrdiff_t>(gone);
        old.assign(std::make_move_iterator(entries_.begin()), std::make_move_iterator(end));
        entries_.erase(entries_.begin(), end);
    } catch (...) {
        // Freed instead of kept.
    }
}

void ScratchCache::clear() noexcept {
    std::vector<Entry> entries;
    {
        const std::lock_guard lock(mutex_);
        entries.swap(entries_);
        bytes_ = 0;
    }
}

ScratchCache& scratch_cache(Backend& backend) {
    return detail::Access::backend_state(backend)->scratch_cache();
}

std::uint64_t memory_limit(const Backend& backend) {
    return detail::Access::backend_state(backend)->context()->memory.limit();
}

bool observed(const Backend& backend) {
    return detail::Access::backend_state(backend)->context()->trace.active();
}

const CpuSet& node_cpus(const Backend& backend) {
    return detail::Access::backend_state(backend)->node_cpus();
}

void check_batch_options(const char* function, Backend& backend, const BatchOptions& options) {
    const Device& device = detail::Access::backend_state(backend)->context()->device;
    static_cast<void>(
        in_name_of(function, [&] { return settle_options(device.plan(), device.snapshot(), options, 0); }));
}

}  // namespace weft::core
