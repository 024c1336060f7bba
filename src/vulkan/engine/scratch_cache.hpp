// SPDX-License-Identifier: Apache-2.0
// What the op families use of the engine in addition to the public API: objects that one call leaves for the
// next call of its kind, the limit of memory, the CPUs near the device, and the check of BatchOptions.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include <weft/batch.hpp>
#include <weft/buffer.hpp>

#include "host/cpu_set.hpp"

namespace weft::core {

/// Buffers, streams and other objects that are made once and used again. A call that takes an entry owns it
/// until it gives it back. Each backend has a cache, which Backend::trim() empties.
class ScratchCache {
  public:
    using Key = std::vector<std::uint64_t>;
    /// The entry with that key that was given back last; null: there is none.
    std::shared_ptr<void> take(const Key& key);
    /// The same, but the entry stays in the cache for other calls. For entries that no call changes.
    std::shared_ptr<void> share(const Key& key);
    /// The entry holds `bytes` of memory. The oldest entries are freed when there are many or large ones. An
    /// entry that alone exceeds the limit is freed, and so is one for which the list has no memory.
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
/// A buffer of `words` words, which streams of this backend may read. The first call with `key` fills it by
/// the steps of `make`, in a submission of its own that it waits for, and the cache keeps it. Errors:
/// out_of_memory, device_lost, driver.
BufferView<const std::uint32_t> kept_buffer(
    const Stream& stream, const ScratchCache::Key& key, std::uint64_t words, std::string_view name,
    const std::function<void(Stream&, const BufferView<std::uint32_t>&)>& make);
/// The same with these words.
BufferView<const std::uint32_t> kept_words(const Stream& stream, const ScratchCache::Key& key,
                                           std::span<const std::uint32_t> words, std::string_view name);
/// Config::memory_limit; 0: none.
std::uint64_t memory_limit(const Backend& backend);
std::uint64_t memory_limit(const Stream& stream);
/// Whether a profile or a trace listens to it, which gets the steps of a replay as a whole only.
bool observed(const Backend& backend);
/// Where threads that touch host memory for this backend belong, for a NodeBinding. Empty: anywhere.
const CpuSet& node_cpus(const Backend& backend);
/// run_batch's check of its options, for a call that takes them and does not call it. Errors: as run_batch,
/// with the name of the call.
void check_batch_options(const char* function, Backend& backend, const BatchOptions& options);

}  // namespace weft::core
