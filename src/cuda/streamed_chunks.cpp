// SPDX-License-Identifier: Apache-2.0
// Also completes <weft/cuda/host.hpp>: settings of the process.
#include "cuda/streamed_chunks.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <utility>

#include <weft/cuda/host.hpp>

#include "cuda/check.hpp"
#include "cuda/slot_ring.hpp"
#include "host/copy_workers.hpp"
#include "host/cpu_set.hpp"
#include "plan/work/host_chunks.hpp"

namespace weft::cuda {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

constexpr std::uint64_t kAlignment = 256;

std::uint64_t aligned(std::uint64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// Shared by all calls. Like the rings, it is never destroyed. Threads that settings replaced end with the
/// last call that uses them.
class Shared {
  public:
    static Shared& all() {
        static auto* const shared = new Shared;
        return *shared;
    }
    void set(const core::HostChunkSettings& settings) {
        std::shared_ptr<core::CopyWorkers> old;  // its threads end after the lock is released
        const std::lock_guard lock(mutex_);
        if (settings.copy_threads != settings_.copy_threads) old = std::exchange(workers_, nullptr);
        settings_ = settings;
    }
    core::HostChunkSettings settings() {
        const std::lock_guard lock(mutex_);
        return settings_;
    }
    std::shared_ptr<core::CopyWorkers> workers() {
        const std::lock_guard lock(mutex_);
        if (!workers_)
            workers_ =
                std::make_shared<core::CopyWorkers>(core::host_copy_threads(settings_, host_threads()));
        return workers_;
    }

  private:
    std::mutex mutex_;
    core::HostChunkSettings settings_;
    std::shared_ptr<core::CopyWorkers> workers_;  // made by the first copy
};

std::uint64_t element_bytes(const HostWork& work) {
    std::uint64_t bytes = 0;
    for (const HostInput& in : work.inputs) bytes += in.element_bytes;
    for (const HostOutput& out : work.outputs) bytes += out.element_bytes;
    return bytes;
}

core::HostChunkPlan plan_of(const char* function, const HostWork& work, const BatchOptions& options) {
    return core::plan_host_chunks(function, element_bytes(work), work.multiple, options,
                                  Shared::all().settings());
}

// The part of an array that belongs to a chunk.
template <class Array>
std::uint64_t bytes_of(const Array& array, const Chunk& chunk) {
    return std::min(chunk.count * array.element_bytes, array.bytes - chunk.first * array.element_bytes);
}

class Run {
  public:
    Run(const char* function, const HostWork& work, const core::HostChunkPlan& plan)
        : function_(function),
          work_(work),
          workers_(Shared::all().workers()),
          lease_(function, plan.ring_slots),
          count_(plan.chunk_elements) {
        for (RingSlot& slot : lease_.slots()) slots_.push_back({slot});
        for (const HostInput& in : work.inputs) locked_in_.push_back(is_page_locked(in.data));
        for (const HostOutput& out : work.outputs) locked_out_.push_back(is_page_locked(out.data));
    }

    void all(BatchReport& report) {
        std::vector<Slot>& slots = slots_;
        std::size_t next = 0;
        for (std::uint64_t first = 0; first < work_.elements;
             first += count_, next = (next + 1) % slots.size()) {
            Slot& slot = slots[next];
            finish(slot);
            start(slot, first, std::min(count_, work_.elements - first));
        }
        for (std::size_t i = 0; i < slots.size(); ++i) finish(slots[(next + i) % slots.size()]);
        report.chunks += chunks_;
        report.bundles += chunks_;
        report.waits += chunks_;
        report.wait_s += wait_s_;
        report.copy_in_s += copy_in_s_;
        report.copy_out_s += copy_out_s_;
        report.ring_slots = static_cast<std::uint32_t>(slots.size());
        report.chunk_elements = count_;
        if (chunks_ == 0) return;
        report.path = Path::staged;
        report.host_memory = "cuda";
    }

  private:
    struct Slot {
        RingSlot& at;
        Chunk chunk{};
    };

    void start(Slot& slot, std::uint64_t first, std::uint64_t count) {
        std::uint64_t need = 0;
        const std::uint64_t most = std::min(count_, work_.elements);
        for (const HostInput& in : work_.inputs) need += aligned(most * in.element_bytes);
        for (const HostOutput& out : work_.outputs) need += aligned(most * out.element_bytes);
        slot.at.device.reserve(function_, need, true);
        slot.at.staging.reserve(function_, need, false);
        slot.chunk = {slot.at.stream, {}, {}, first, count};
        ++chunks_;
        slot.at.busy = true;
        std::uint64_t at = 0;
        for (const HostInput& in : work_.inputs) {
            slot.chunk.inputs.push_back(slot.at.device.data + at);
            at += aligned(most * in.element_bytes);
        }
        for (const HostOutput& out : work_.outputs) {
            slot.chunk.outputs.push_back(slot.at.device.data + at);
            at += aligned(most * out.element_bytes);
        }
        copy_there(slot);
        work_.launch(slot.chunk);
        copy_back(slot);
    }

    // An area of a slot has the same offset in staging memory as on the device.
    static std::byte* staged(const Slot& slot, const std::byte* on_device) {
        return slot.at.staging.data + (on_device - slot.at.device.data);
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
            check(cudaMemcpyAsync(
                      slot.chunk.inputs[i], locked_in_[i] ? source(i) : staged(slot, slot.chunk.inputs[i]),
                      bytes_of(work_.inputs[i], slot.chunk), cudaMemcpyHostToDevice, slot.at.stream),
                  function_, "cudaMemcpyAsync");
    }

    void copy_back(Slot& slot) {
        for (std::size_t i = 0; i < work_.outputs.size(); ++i)
            check(cudaMemcpyAsync(locked_out_[i] ? target(slot, i) : staged(slot, slot.chunk.outputs[i]),
                                  slot.chunk.outputs[i], bytes_of(work_.outputs[i], slot.chunk),
                                  cudaMemcpyDeviceToHost, slot.at.stream),
                  function_, "cudaMemcpyAsync");
    }
    std::byte* target(const Slot& slot, std::size_t i) const {
        const HostOutput& out = work_.outputs[i];
        return static_cast<std::byte*>(out.data) + slot.chunk.first * out.element_bytes;
    }

    void finish(Slot& slot) {
        if (!slot.at.busy) return;
        slot.at.busy = false;
        const auto begin = Clock::now();
        check(cudaStreamSynchronize(slot.at.stream), function_, "cudaStreamSynchronize");
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
        workers_->copy(copies_);
        seconds += seconds_since(begin);
    }

    const char* function_;
    const HostWork& work_;
    const std::shared_ptr<core::CopyWorkers> workers_;
    RingLease lease_;
    std::vector<Slot> slots_;
    std::vector<bool> locked_in_, locked_out_;
    const std::uint64_t count_;
    std::uint64_t chunks_ = 0;
    double wait_s_ = 0, copy_in_s_ = 0, copy_out_s_ = 0;
    std::vector<core::HostCopy> copies_;
};

}  // namespace

std::uint32_t copy_threads() {
    return core::host_copy_threads(Shared::all().settings(), host_threads());
}

std::uint32_t host_threads() {
    return core::usable_cores();
}

void set_host_settings(const HostSettings& settings) {
    const core::HostChunkSettings checked{settings.chunk_elements, settings.ring_slots,
                                          settings.copy_threads};
    core::check_host_chunks("cuda::set_host_settings", checked);
    Shared::all().set(checked);
}

std::uint64_t wanted_chunk_elements(const BatchOptions& options) {
    return options.chunk_elements != 0 ? options.chunk_elements : Shared::all().settings().chunk_elements;
}

std::uint64_t chunk_elements(const char* function, const HostWork& work, const BatchOptions& options) {
    return plan_of(function, work, options).chunk_elements;
}

void run_chunks(const char* function, const HostWork& work, const BatchOptions& options,
                BatchReport& report) {
    const auto begin = Clock::now();
    const core::HostChunkPlan plan = plan_of(function, work, options);
    require_device(function);
    Run(function, work, plan).all(report);
    report.wall_s += seconds_since(begin);
    report.elements += work.elements;
    report.jobs += 1;
    for (const HostInput& in : work.inputs) report.bytes_in += in.bytes;
    for (const HostOutput& out : work.outputs) report.bytes_out += out.bytes;
}

}  // namespace weft::cuda
