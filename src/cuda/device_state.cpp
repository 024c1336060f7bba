// SPDX-License-Identifier: Apache-2.0
#include "cuda/device_state.hpp"

#include <algorithm>
#include <string>

#include "cuda/device_match.hpp"

namespace weft::cuda::detail {
namespace {

/// Timelines that are made before idle ones are reused for other streams.
constexpr std::size_t kKeptLines = 16;

void require_not_captured(StreamHandle stream, const char* function) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    check(cudaStreamIsCapturing(stream, &status), function, "cudaStreamIsCapturing");
    if (status != cudaStreamCaptureStatusNone)
        throw Error(Errc::invalid_argument,
                    std::string(function) +
                        ": the stream is being captured (a graph would repeat one value of a timeline)");
}

}  // namespace

Semaphore::Semaphore(core::FileDescriptor fd, const char* function) {
    cudaExternalSemaphoreHandleDesc description{};
    description.type = cudaExternalSemaphoreHandleTypeTimelineSemaphoreFd;
    description.handle.fd = fd.get();
    check(cudaImportExternalSemaphore(&handle_, &description), function, "cudaImportExternalSemaphore");
    fd.release();  // CUDA owns it now
}

Semaphore::~Semaphore() {
    if (handle_ != nullptr) (void)cudaDestroyExternalSemaphore(handle_);
}

void Semaphore::wait(StreamHandle stream, std::uint64_t value, const char* function) const {
    cudaExternalSemaphoreWaitParams parameters{};
    parameters.params.fence.value = value;
    check(cudaWaitExternalSemaphoresAsync(&handle_, &parameters, 1, stream), function,
          "cudaWaitExternalSemaphoresAsync");
}

void Semaphore::signal(StreamHandle stream, std::uint64_t value, const char* function) const {
    cudaExternalSemaphoreSignalParams parameters{};
    parameters.params.fence.value = value;
    check(cudaSignalExternalSemaphoresAsync(&handle_, &parameters, 1, stream), function,
          "cudaSignalExternalSemaphoresAsync");
}

DeviceState::DeviceState(Backend& backend) : backend_state_(weft::detail::Access::backend_state(backend)) {
    constexpr const char* kFunction = "cuda::Device";
    require_device(kFunction);
    info_ = match_device(list_devices(), backend.name(), backend.device().uuid);
    core::require_external(*backend_state_, kFunction);
    const Driver& driver = Driver::get(kFunction);
    check(driver.primary_retain(&context_, info_.ordinal), kFunction, "cuDevicePrimaryCtxRetain");
    try {
        const CurrentContext current(context_, kFunction);
        check(cudaEventCreateWithFlags(&health_, cudaEventDisableTiming), kFunction, "cudaEventCreate");
    } catch (...) {
        (void)driver.primary_release(info_.ordinal);
        throw;
    }
}

DeviceState::~DeviceState() {
    const Driver& driver = Driver::get("cuda::Device");
    if (driver.push(context_) != CUDA_SUCCESS) return;
    // Semaphores must outlive the work that waits for them or signals them.
    if (cudaDeviceSynchronize() != cudaSuccess)
        for (const Line& line : lines_) core::poll(*line.timeline);
    for (Semaphore& semaphore : work_) semaphore = Semaphore();
    foreign_.clear();
    lines_.clear();
    (void)cudaEventDestroy(health_);
    CUcontext ours = nullptr;
    (void)driver.pop(&ours);
    (void)driver.primary_release(info_.ordinal);
}

const Semaphore& DeviceState::work_semaphore(std::size_t timeline, const char* function) {
    Semaphore& semaphore = work_[timeline];
    if (!semaphore) semaphore = Semaphore(core::export_work_timeline(*backend_state_, timeline), function);
    return semaphore;
}

const Semaphore& DeviceState::semaphore_of(const std::shared_ptr<core::ExternalTimeline>& timeline,
                                           const char* function) {
    for (const Line& line : lines_)
        if (line.timeline == timeline) return line.semaphore;
    for (const auto& [known, semaphore] : foreign_)
        if (known == timeline) return semaphore;
    foreign_.emplace_back(timeline, Semaphore(core::export_timeline(*timeline), function));
    return foreign_.back().second;
}

DeviceState::Line& DeviceState::line_of(StreamHandle stream, const char* function) {
    unsigned long long id = 0;  // unlike a handle, no number is used twice
    check(cudaStreamGetId(stream, &id), function, "cudaStreamGetId");
    for (Line& line : lines_)
        if (line.stream == id) return line;
    if (lines_.size() >= kKeptLines)
        for (Line& line : lines_)
            if (core::external_event(line.timeline, line.last).done()) {
                line.stream = id;
                return line;
            }
    Line line;
    line.stream = id;
    line.timeline = core::make_external_timeline(*backend_state_, [context = context_, health = health_] {
        const Driver& driver = Driver::get("cuda::Device");
        if (driver.push(context) != CUDA_SUCCESS) return std::string("the CUDA context is gone");
        const cudaError_t result = cudaEventQuery(health);
        CUcontext ours = nullptr;
        (void)driver.pop(&ours);
        if (result == cudaSuccess || result == cudaErrorNotReady) return std::string();
        return std::string("CUDA failed and will never signal: ") + cudaGetErrorString(result);
    });
    line.semaphore = Semaphore(core::export_timeline(*line.timeline), function);
    lines_.push_back(std::move(line));
    return lines_.back();
}

void DeviceState::wait_locked(StreamHandle stream, const core::WorkPoint& point, const char* function) {
    if (point.value == 0) return;
    const Semaphore& semaphore =
        point.external ? semaphore_of(point.external, function) : work_semaphore(point.timeline, function);
    semaphore.wait(stream, point.value, function);
}

void DeviceState::wait_for(StreamHandle stream, const Event& event, const char* function) {
    const core::WorkPoint point = core::work_point(event);
    if (point.value != 0 && core::context_of(event) != core::context_of(*backend_state_))
        throw Error(Errc::invalid_argument,
                    std::string(function) + ": event of another backend (need one of this device's)");
    core::require_external(*backend_state_, function);
    const CurrentContext current(context_, function);
    require_not_captured(stream, function);
    const std::lock_guard lock(mutex_);
    wait_locked(stream, point, function);
}

void DeviceState::wait_for_all(StreamHandle stream) {
    constexpr const char* kFunction = "cuda::Device::wait_for_all";
    core::require_external(*backend_state_, kFunction);
    const CurrentContext current(context_, kFunction);
    require_not_captured(stream, kFunction);
    const std::lock_guard lock(mutex_);
    for (const core::WorkPoint& point : core::last_work(*backend_state_))
        wait_locked(stream, point, kFunction);
}

Event DeviceState::event(StreamHandle stream, const char* function) {
    core::require_external(*backend_state_, function);
    const CurrentContext current(context_, function);
    require_not_captured(stream, function);
    const std::lock_guard lock(mutex_);
    Line& line = line_of(stream, function);
    line.semaphore.signal(stream, line.last + 1, function);
    return core::external_event(line.timeline, ++line.last);
}

}  // namespace weft::cuda::detail
