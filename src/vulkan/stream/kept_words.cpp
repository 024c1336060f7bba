// SPDX-License-Identifier: Apache-2.0
// Completes vulkan/engine/scratch_cache.hpp: constant tables that streams share.
#include "vulkan/engine/scratch_cache.hpp"

#include <string>
#include <utility>

#include <weft/stream.hpp>

#include "vulkan/stream/stream_state.hpp"

namespace weft::core {

BufferView<const std::uint32_t> kept_words(const Stream& stream, const ScratchCache::Key& key,
                                           std::span<const std::uint32_t> words, std::string_view name) {
    const std::shared_ptr<BackendState>& backend_state = detail::Access::backend_state(stream);
    std::shared_ptr<void> held = backend_state->scratch_cache().share(key);
    if (!held) {
        auto buffer = std::make_shared<Buffer<std::uint32_t>>(stream, words.size(), name);
        // Not on `stream`, whose steps may run later than those of other streams, or never.
        Stream upload =
            detail::Access::make<Stream>(std::make_unique<StreamState>(backend_state, std::string(name)));
        upload.upload(words, *buffer);
        upload.wait();
        backend_state->scratch_cache().give(key, buffer, buffer->bytes());
        held = std::move(buffer);
    }
    return static_cast<const Buffer<std::uint32_t>*>(held.get())->view();
}

}  // namespace weft::core
