// SPDX-License-Identifier: Apache-2.0
#include "cuda/streamed_chunks.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>

#include "cuda/check.hpp"
#include "host/copy_workers.hpp"

namespace weft::cuda {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

constexpr std::size_t kSlots = 4;
constexpr std::uint64_t kChunkBytes = std::uint64_t{24} << 20, kAlignment = 256;

std::uint64_t aligned(std::uint64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

bool is_page_locked(const void* data) {
    cudaPointerAttributes attributes{};
    if (cudaPointerGetAttributes(&attributes, data) == cudaSuccess)
        return attributes.type == cudaMemoryTypeHost;
    static_cast<void>(cudaGetLastError());
    return false;
}

/// Shared by all calls. Like the rings, they are never destroyed.
core::CopyWorkers& copy_workers() {
    constexpr std::uint32_t kMostThreads = 16;  // they fill the bus, see plan/device/device_plan.cpp
    static auto* const workers = new core::CopyWorkers(std::min(host_threads(), kMostThreads));
    return *workers;
}

/// Memory of one kind that grows.
struct Area {
    std::byte* data = nullptr;
    std::uint64_t bytes = 0;

    void reserve(const char* function, std::uint64_t need, bool on_device) {
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
    void release(bool on_device) noexcept {
        if (data != nullptr) static_cast<void>(on_device ? cudaFree(data) : cudaFreeHost(data));
        data = nullptr;
        bytes = 0;
    }
};

struct Slot {
    cudaStream_t stream = nullptr;
    Area staging, device;
    bool busy = false;
    Chunk chunk;
};

struct Ring {
    int device = 0;
    std::array<Slot, kSlots> slots;

    explicit Ring(int ordinal, const char* function) : device(ordinal) {
        for (Slot& slot : slots)
            check(cudaStreamCreateWithFlags(&slot.stream, cudaStreamNonBlocking), function,
                  "cudaStreamCreateWithFlags");
    }
    Ring(Ring&&) = delete;
    ~Ring() {
        for (Slot& slot : slots) {
            slot.staging.release(false);
            slot.device.release(true);
            if (slot.stream != nullptr) static_cast<void>(cudaStreamDestroy(slot.stream));
        }
    }
};

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

/// A ring for the time of a call.
class Lease {
  public:
    explicit Lease(const char* function) {
        int device = 0;
        check(cudaGetDevice(&device), function, "cudaGetDevice");
        IdleRings& idle = idle_rings();
        {
            const std::lock_guard lock(idle.mutex);
            const auto found = std::find_if(idle.rings.rbegin(), idle.rings.rend(),
                                            [&](const auto& ring) { return ring->device == device; });
            if (found != idle.rings.rend()) {
                ring_ = std::move(*found);
                idle.rings.erase(std::next(found).base());
            }
        }
        if (!ring_) ring_ = std::make_unique<Ring>(device, function);
    }
    Lease(Lease&&) = delete;
    ~Lease() {
        for (Slot& slot : ring_->slots) {
            if (slot.busy) static_cast<void>(cudaStreamSynchronize(slot.stream));
            slot.busy = false;
        }
        const std::lock_guard lock(idle_rings().mutex);
        idle_rings().rings.push_back(std::move(ring_));
    }
    std::array<Slot, kSlots>& slots() { return ring_->slots; }

  private:
    std::unique_ptr<Ring> ring_;
};

// The part of an array that belongs to a chunk.
template <class Array>
std::uint64_t bytes_of(const Array& array, const Chunk& chunk) {
    return std::min(chunk.count * array.element_bytes, array.bytes - chunk.first * array.element_bytes);
}

class Run {
  public:
    Run(const char* function, const HostWork& work) : function_(function), work_(work), lease_(function) {
        for (const HostInput& in : work.inputs) locked_in_.push_back(is_page_locked(in.data));
        for (const HostOutput& out : work.outputs) locked_out_.push_back(is_page_locked(out.data));
        std::uint64_t element = 0;
        for (const HostInput& in : work.inputs) element += in.element_bytes;
        for (const HostOutput& out : work.outputs) element += out.element_bytes;
        const std::uint64_t wanted =
            std::max<std::uint64_t>(1, kChunkBytes / std::max<std::uint64_t>(1, element));
        count_ = std::max<std::uint64_t>(1, wanted / work.multiple) * work.multiple;
    }

    void all(BatchReport& report) {
        std::size_t next = 0;
        for (std::uint64_t first = 0; first < work_.elements; first += count_, next = (next + 1) % kSlots) {
            Slot& slot = lease_.slots()[next];
            finish(slot);
            start(slot, first, std::min(count_, work_.elements - first));
        }
        for (std::size_t i = 0; i < kSlots; ++i) finish(lease_.slots()[(next + i) % kSlots]);
        report.chunks += chunks_;
        report.bundles += chunks_;
        report.waits += chunks_;
        report.wait_s += wait_s_;
        report.copy_in_s += copy_in_s_;
        report.copy_out_s += copy_out_s_;
        report.ring_slots = kSlots;
        report.chunk_elements = count_;
        if (chunks_ == 0) return;
        report.path = Path::staged;
        report.host_memory = "cuda";
    }

  private:
    void start(Slot& slot, std::uint64_t first, std::uint64_t count) {
        std::uint64_t need = 0;
        for (const HostInput& in : work_.inputs) need += aligned(count_ * in.element_bytes);
        for (const HostOutput& out : work_.outputs) need += aligned(count_ * out.element_bytes);
        slot.device.reserve(function_, need, true);
        slot.staging.reserve(function_, need, false);
        slot.chunk = {slot.stream, {}, {}, first, count};
        ++chunks_;
        slot.busy = true;
        std::uint64_t at = 0;
        for (const HostInput& in : work_.inputs) {
            slot.chunk.inputs.push_back(slot.device.data + at);
            at += aligned(count_ * in.element_bytes);
        }
        for (const HostOutput& out : work_.outputs) {
            slot.chunk.outputs.push_back(slot.device.data + at);
            at += aligned(count_ * out.element_bytes);
        }
        copy_there(slot);
        work_.launch(slot.chunk);
        copy_back(slot);
    }

    // An area of a slot has the same offset in staging memory as on the device.
    static std::byte* staged(const Slot& slot, const std::byte* on_device) {
        return slot.staging.data + (on_device - slot.device.data);
    }

    void copy_there(Slot& slot) {
        copies_.clear();
        const auto source = [&](std::size_t i) {
            const HostInput& in = work_.inputs[i];
            return static_cast<const std::byte*>(in.data) + slot.chunk.first * in.element_bytes;
        };
        for (std::size_t i = 0; i < work_.inputs.size(); ++i)
            if (!locked_in_[i])
                copies_.push_back(
                    {staged(slot, slot.chunk.inputs[i]), source(i), bytes_of(work_.inputs[i], slot.chunk)});
        copy(copy_in_s_);
        for (std::size_t i = 0; i < work_.inputs.size(); ++i)
            check(cudaMemcpyAsync(slot.chunk.inputs[i],
                                  locked_in_[i] ? source(i) : staged(slot, slot.chunk.inputs[i]),
                                  bytes_of(work_.inputs[i], slot.chunk), cudaMemcpyHostToDevice, slot.stream),
                  function_, "cudaMemcpyAsync");
    }

    void copy_back(Slot& slot) {
        for (std::size_t i = 0; i < work_.outputs.size(); ++i)
            check(cudaMemcpyAsync(locked_out_[i] ? target(slot, i) : staged(slot, slot.chunk.outputs[i]),
                                  slot.chunk.outputs[i], bytes_of(work_.outputs[i], slot.chunk),
                                  cudaMemcpyDeviceToHost, slot.stream),
                  function_, "cudaMemcpyAsync");
    }
    std::byte* target(const Slot& slot, std::size_t i) const {
        const HostOutput& out = work_.outputs[i];
        return static_cast<std::byte*>(out.data) + slot.chunk.first * out.element_bytes;
    }

    void finish(Slot& slot) {
        if (!slot.busy) return;
        slot.busy = false;
        const auto begin = Clock::now();
        check(cudaStreamSynchronize(slot.stream), function_, "cudaStreamSynchronize");
        wait_s_ += seconds_since(begin);
        copies_.clear();
        for (std::size_t i = 0; i < work_.outputs.size(); ++i)
            if (!locked_out_[i])
                copies_.push_back({target(slot, i), staged(slot, slot.chunk.outputs[i]),
                                   bytes_of(work_.outputs[i], slot.chunk)});
        copy(copy_out_s_);
        if (work_.done) work_.done(slot.chunk);
    }

    void copy(double& seconds) {
        if (copies_.empty()) return;
        const auto begin = Clock::now();
        copy_workers().copy(copies_);
        seconds += seconds_since(begin);
    }

    const char* function_;
    const HostWork& work_;
    Lease lease_;
    std::vector<bool> locked_in_, locked_out_;
    std::uint64_t count_ = 1, chunks_ = 0;
    double wait_s_ = 0, copy_in_s_ = 0, copy_out_s_ = 0;
    std::vector<core::HostCopy> copies_;
};

}  // namespace

std::uint32_t host_threads() {
    return std::max(1u, std::thread::hardware_concurrency());
}

void run_chunks(const char* function, const HostWork& work, BatchReport& report) {
    const auto begin = Clock::now();
    require_device(function);
    Run(function, work).all(report);
    report.wall_s += seconds_since(begin);
    report.elements += work.elements;
    report.jobs += 1;
    for (const HostInput& in : work.inputs) report.bytes_in += in.bytes;
    for (const HostOutput& out : work.outputs) report.bytes_out += out.bytes;
}

}  // namespace weft::cuda
