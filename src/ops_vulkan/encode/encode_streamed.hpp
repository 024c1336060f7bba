// SPDX-License-Identifier: Apache-2.0
// Encodes from and to host memory: by the engine of run_batch if one dispatch makes an element, and by a
// Stream if states need several passes.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <weft/ops/encode.hpp>

#include "ops/encode/encode_footprint.hpp"
#include "vulkan/engine/scratch_cache.hpp"

namespace weft::kernels {

enum class EncodeScratchKind : std::uint64_t { status_words = 0x656e636f, rows, parts, windows };

/// The object that the last call with that key has left, or a new one. It is destroyed with this handle
/// unless it is given back. Nothing is kept if memory is limited.
template <class T>
class Kept {
  public:
    template <class Make>
    Kept(Backend& backend, core::ScratchCache::Key key, Make make)
        : backend_(backend),
          key_(std::move(key)),
          held_(std::static_pointer_cast<T>(core::scratch_cache(backend).take(key_))) {
        if (!held_) held_ = make();
    }
    T& operator*() const { return *held_; }
    T* operator->() const { return held_.get(); }
    void give_back(std::uint64_t bytes) {
        if (core::memory_limit(backend_) == 0)
            core::scratch_cache(backend_).give(key_, std::move(held_), bytes);
    }

  private:
    Backend& backend_;
    core::ScratchCache::Key key_;
    std::shared_ptr<T> held_;
};

EncodeRoom room_of(const Backend& backend);

/// Encodes all arrays as one batch; the samples of the plan are those of all of them. Appends the samples
/// that failed, counted over all arrays. Arguments have been checked.
BatchReport encode_by_jobs(Backend& backend, const EncodePlan& plan, std::span<const EncodeJob> arrays,
                           const BatchOptions& options, std::vector<EncodeFailure>& failures);

/// One array by a Stream, with at most `most` bytes of memory.
BatchReport encode_by_rounds(Backend& backend, const EncodePlan& plan, const ConstHostArray& values,
                             const HostArray& states, const BatchOptions& options, std::uint64_t most,
                             std::vector<EncodeFailure>& failures);

}  // namespace weft::kernels
