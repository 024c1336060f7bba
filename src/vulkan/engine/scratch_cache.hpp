// SPDX-License-Identifier: Apache-2.0
// What one call leaves for the next of its kind: buffers, streams, whatever is made once and fits again.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <weft/backend.hpp>

namespace weft::core {

/// Used by one call at a time: who takes an entry has it alone. Belongs to a backend, ends with it, and is
/// freed by Backend::trim().
class ScratchCache {
  public:
    using Key = std::vector<std::uint64_t>;
    /// The entry of that key which was given back last; null: none.
    std::shared_ptr<void> take(const Key& key);
    /// `bytes` of memory are in it. The oldest go when there are many or much is held; what is larger than
    /// that by itself is freed, as it is where there is no memory for the list.
    void give(Key key, std::shared_ptr<void> entry, std::uint64_t bytes) noexcept;
    void clear() noexcept;

  private:
    struct Entry {
        Key key;
        std::shared_ptr<void> held;
        std::uint64_t bytes;
    };
    std::mutex mutex_;
    std::vector<Entry> entries_;  // oldest first
    std::uint64_t bytes_ = 0;
};

ScratchCache& scratch_cache(Backend& backend);
/// Config::memory_limit; 0: none.
std::uint64_t memory_limit(const Backend& backend);

}  // namespace weft::core
