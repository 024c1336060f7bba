// SPDX-License-Identifier: Apache-2.0
#include "cuda/slot_ring.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <utility>

#include "cuda/check.hpp"

namespace weft::cuda {

bool is_page_locked(const void* data) {
    cudaPointerAttributes attributes{};
    if (cudaPointerGetAttributes(&attributes, data) == cudaSuccess)
        return attributes.type == cudaMemoryTypeHost;
    static_cast<void>(cudaGetLastError());
    return false;
}

void RingMemory::reserve(const char* function, std::uint64_t need, bool on_device) {
    if (need <= bytes) return;
    release(on_device);
    void* fresh = nullptr;
    if (on_device)
        check(cudaMalloc(&fresh, need), function, "cudaMalloc");
    else
        check(cudaHostAlloc(&fresh, need, cudaHostAllocPortable), function, "cudaHostAlloc");
    data = static_cast<std::byte*>(fresh);
    bytes = need;
}

void RingMemory::release(bool on_device) noexcept {
    if (data != nullptr) static_cast<void>(on_device ? cudaFree(data) : cudaFreeHost(data));
    data = nullptr;
    bytes = 0;
}

struct Ring {
    int device = 0;
    std::vector<RingSlot> slots;

    Ring(int ordinal, std::size_t count, const char* function) : device(ordinal), slots(count) {
        for (RingSlot& slot : slots)
            check(cudaStreamCreateWithFlags(&slot.stream, cudaStreamNonBlocking), function,
                  "cudaStreamCreateWithFlags");
    }
    Ring(Ring&&) = delete;
    ~Ring() {
        for (RingSlot& slot : slots) {
            slot.staging.release(false);
            slot.device.release(true);
            if (slot.stream != nullptr) static_cast<void>(cudaStreamDestroy(slot.stream));
        }
    }
};

namespace {

/// Rings that no call uses. They are never destroyed, because CUDA ends before the static objects of a
/// program.
struct IdleRings {
    std::mutex mutex;
    std::vector<std::unique_ptr<Ring>> rings;
};
IdleRings& idle_rings() {
    static auto* const idle = new IdleRings;
    return *idle;
}

}  // namespace

RingLease::RingLease(const char* function, std::size_t slots) {
    int device = 0;
    check(cudaGetDevice(&device), function, "cudaGetDevice");
    IdleRings& idle = idle_rings();
    {
        const std::lock_guard lock(idle.mutex);
        const auto found = std::find_if(idle.rings.rbegin(), idle.rings.rend(), [&](const auto& ring) {
            return ring->device == device && ring->slots.size() == slots;
        });
        if (found != idle.rings.rend()) {
            ring_ = std::move(*found);
            idle.rings.erase(std::next(found).base());
        }
    }
    if (!ring_) ring_ = std::make_unique<Ring>(device, slots, function);
}

RingLease::~RingLease() {
    for (RingSlot& slot : ring_->slots) {
        if (slot.busy) static_cast<void>(cudaStreamSynchronize(slot.stream));
        slot.busy = false;
    }
    const std::lock_guard lock(idle_rings().mutex);
    idle_rings().rings.push_back(std::move(ring_));
}

std::vector<RingSlot>& RingLease::slots() {
    return ring_->slots;
}

}  // namespace weft::cuda
