// SPDX-License-Identifier: Apache-2.0
// The memory of a call. A call on host memory keeps it, with its streams and what they have recorded, for the
// next call of the same sizes, which then makes no object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <weft/backend.hpp>
#include <weft/buffer.hpp>
#include <weft/host_buffer.hpp>
#include <weft/stream.hpp>

#include "ops/kernel_matrix/kernel_plan.hpp"
#include "vulkan/engine/scratch_cache.hpp"

namespace weft::kernels {

using Words = BufferView<std::uint32_t>;
using ConstWords = BufferView<const std::uint32_t>;

/// Words [first, first + count) of a range.
Words part_of(const Words& words, std::uint64_t first, std::uint64_t count);

/// Hands out buffers in the order in which they are asked for. After restart() the same requests get the same
/// buffers again, so the work of the call before must be done. A request of another size gets a new buffer.
class KernelMemory {
  public:
    /// `stream` must outlive it.
    explicit KernelMemory(const Stream& stream) : stream_(stream) {}
    KernelMemory(const KernelMemory&) = delete;
    KernelMemory& operator=(const KernelMemory&) = delete;

    /// Words of device memory. Errors: out_of_memory.
    Words words(std::uint64_t count, std::string_view name);
    /// Words of page-locked memory. Errors: out_of_memory.
    HostBuffer<std::uint32_t>& host_words(Backend& backend, std::uint64_t count, std::string_view name);
    void restart() { used_ = used_host_ = 0; }
    std::uint64_t bytes() const;

  private:
    const Stream& stream_;
    std::vector<Buffer<std::uint32_t>> buffers_;
    std::deque<HostBuffer<std::uint32_t>> host_buffers_;  // references to them stay valid
    std::size_t used_ = 0, used_host_ = 0;
};

/// Steps of a call that is repeated with the same arguments, but for the values in its buffers.
struct KeptSteps {
    core::ScratchCache::Key made_for;
    Sequence steps;
};

/// What a call on host memory works with.
struct HostScratch {
    explicit HostScratch(Backend& backend)
        : stream(backend, {.name = "kernel matrix"}),
          copier(backend, {.name = "kernel matrix download", .queue = StreamQueue::download}),
          memory(stream) {}
    Stream stream, copier;
    KernelMemory memory;
    std::optional<KeptSteps> few;  ///< of a K of few rows
};

/// What the buffers of a call depend on, as a key. Calls with other options may share it, because a buffer of
/// another size is replaced.
core::ScratchCache::Key sizes_of(const KernelMatrixPlan& plan, ElementType values);

/// The scratch that the last call of the same sizes has left, or a new one. It is destroyed with this handle
/// unless it is kept: after an error work may still use it.
class KeptScratch {
  public:
    KeptScratch(Backend& backend, core::ScratchCache::Key sizes);
    HostScratch& operator*() const { return *held_; }
    HostScratch* operator->() const { return held_.get(); }
    /// For the next call; all work must be done. Nothing is kept if memory is limited.
    void keep();

  private:
    Backend& backend_;
    core::ScratchCache::Key key_;
    std::shared_ptr<HostScratch> held_;
};

}  // namespace weft::kernels
