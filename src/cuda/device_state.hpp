// SPDX-License-Identifier: Apache-2.0
// The state of a cuda::Device: the context, the timelines of weft in CUDA, and a timeline for each CUDA
// stream that weft waits for.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <vector>

#include <weft/cuda/interop.hpp>

#include "cuda/driver.hpp"
#include "vulkan/backend/external_memory.hpp"

namespace weft::cuda::detail {

/// A timeline semaphore of Vulkan in CUDA.
class Semaphore {
  public:
    Semaphore() = default;
    /// Imports it into the current context. Errors: driver.
    Semaphore(core::FileDescriptor fd, const char* function);
    Semaphore(Semaphore&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Semaphore& operator=(Semaphore&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Semaphore();

    explicit operator bool() const { return handle_ != nullptr; }
    void wait(StreamHandle stream, std::uint64_t value, const char* function) const;
    void signal(StreamHandle stream, std::uint64_t value, const char* function) const;

  private:
    cudaExternalSemaphore_t handle_ = nullptr;
};

class DeviceState {
  public:
    explicit DeviceState(Backend& backend);
    ~DeviceState();
    DeviceState(const DeviceState&) = delete;
    DeviceState& operator=(const DeviceState&) = delete;

    const DeviceInfo& info() const { return info_; }
    CUcontext context() const { return context_; }
    const core::BackendState& backend_state() const { return *backend_state_; }

    void wait_for(StreamHandle stream, const Event& event, const char* function);
    void wait_for_all(StreamHandle stream);
    Event event(StreamHandle stream, const char* function);

  private:
    /// The timeline of a CUDA stream. Each stream has its own, because values rise in the order of one stream
    /// only.
    struct Line {
        unsigned long long stream = 0;
        std::shared_ptr<core::ExternalTimeline> timeline;
        Semaphore semaphore;
        std::uint64_t last = 0;
    };
    const Semaphore& work_semaphore(std::size_t timeline, const char* function);
    const Semaphore& semaphore_of(const std::shared_ptr<core::ExternalTimeline>& timeline,
                                  const char* function);
    Line& line_of(StreamHandle stream, const char* function);
    void wait_locked(StreamHandle stream, const core::WorkPoint& point, const char* function);

    std::shared_ptr<core::BackendState> backend_state_;
    DeviceInfo info_;
    CUcontext context_ = nullptr;
    cudaEvent_t health_ = nullptr;  // its state shows whether the context still works
    std::mutex mutex_;
    std::array<Semaphore, core::kWorkTimelines> work_;  // guarded by mutex_, as the members below
    std::vector<Line> lines_;
    /// Timelines that other Devices of the same backend have made.
    std::vector<std::pair<std::shared_ptr<core::ExternalTimeline>, Semaphore>> foreign_;
};

}  // namespace weft::cuda::detail
