// SPDX-License-Identifier: Apache-2.0
// Completes vulkan/engine/scratch_cache.hpp: constant tables that streams share, and what
// it says of streams.
#include "vulkan/engine/scratch_cache.hpp"

#include <string>
#include <utility>

#include <weft/stream.hpp>

#include "vulkan/stream/stream_state.hpp"

namespace weft::core {

BufferView<const std::uint32_t> kept_buffer(
    const Stream& stream, const ScratchCache::Key& key, std::uint64_t words, std::string_view name,
    const std::function<void(Stream&, const BufferView<std::uint32_t>&)>& make) {
    const std::shared_ptr<BackendState>& backend_state = detail::Access::backend_state(stream);
    std::shared_ptr<void> held = backend_state->scratch_cache().share(key);
    if (!held) {
        auto buffer = std::make_shared<Buffer<std::uint32_t>>(stream, words, name);
        // Not on `stream`, whose steps may run later than those of other streams, or never.
        Stream steps =
            detail::Access::make<Stream>(std::make_unique<StreamState>(backend_state, std::string(name)));
        make(steps, buffer->view());
        steps.wait();
        backend_state->scratch_cache().give(key, buffer, buffer->bytes());
        held = std::move(buffer);
    }
    return static_cast<const Buffer<std::uint32_t>*>(held.get())->view();
}

BufferView<const std::uint32_t> kept_words(const Stream& stream, const ScratchCache::Key& key,
                                           std::span<const std::uint32_t> words, std::string_view name) {
    return kept_buffer(
        stream, key, words.size(), name,
        [&](Stream& steps, const BufferView<std::uint32_t>& buffer) { steps.upload(words, buffer); });
}

std::uint64_t memory_limit(const Stream& stream) {
    return detail::Access::backend_state(stream)->context()->memory.limit();
}

}  // namespace weft::core
