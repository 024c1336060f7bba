// SPDX-License-Identifier: Apache-2.0
// Rings of slots: a slot has a CUDA stream, page-locked memory and device memory. Rings are kept for the next
// call.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace weft::cuda {

/// Whether CUDA has page-locked the memory, so that it is copied in place.
bool is_page_locked(const void* data);

/// Memory of one kind that grows.
struct RingMemory {
    std::byte* data = nullptr;
    std::uint64_t bytes = 0;

    /// What was in it is lost if it grows. Errors: out_of_memory.
    void reserve(const char* function, std::uint64_t need, bool on_device);
    void release(bool on_device) noexcept;
};

struct RingSlot {
    cudaStream_t stream = nullptr;
    RingMemory staging, device;
    bool busy = false;  ///< its stream has work that nobody has waited for
};

struct Ring;

/// A ring of the current device for the time of a call, which waits for busy slots at its end.
class RingLease {
  public:
    RingLease(const char* function, std::size_t slots);
    RingLease(RingLease&&) = delete;
    ~RingLease();
    std::vector<RingSlot>& slots();

  private:
    std::unique_ptr<Ring> ring_;
};

}  // namespace weft::cuda
