// SPDX-License-Identifier: Apache-2.0
// For programs that use Vulkan themselves: a Backend on the application's device, and raw handles. The only
// header of weft that includes Vulkan's; weft/weft.hpp does not include it.
//
// Example:
//     weft::Backend backend;
//     const VkDevice device = weft::native::handles(backend).device;
//     const weft::native::QueueLock lock(backend, weft::native::Role::compute);
//     // and submit to lock.queue()
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <vulkan/vulkan_core.h>

#include <weft/backend.hpp>
#include <weft/buffer.hpp>
#include <weft/host_buffer.hpp>
#include <weft/program.hpp>
#include <weft/stream.hpp>

namespace weft::native {

/// The application's queue. Vulkan allows one thread at a time to use it: if you use it too, either hold a
/// QueueLock during each use, or give weft your own lock, as a mutex or as two functions. weft holds it only
/// during a submission and calls none of your code meanwhile.
struct AdoptedQueue {
    VkQueue queue = VK_NULL_HANDLE;          ///< made without flags
    std::uint32_t family = 0, index = 0;     ///< as given to vkGetDeviceQueue
    std::mutex* mutex = nullptr;             ///< must outlive all that weft makes
    std::function<void()> lock{}, unlock{};  ///< both or neither; unlock must not throw
};

/// The application's device, and how it was made. weft uses only what was enabled: a feature that is left out
/// here counts as off.
struct AdoptedDevice {
    VkInstance instance = VK_NULL_HANDLE;
    VkPhysicalDevice physical_device = VK_NULL_HANDLE;
    VkDevice device = VK_NULL_HANDLE;
    /// From the loader that made the instance. Null: weft opens a loader (Config::vulkan_library).
    PFN_vkGetInstanceProcAddr get_instance_proc_addr = nullptr;
    std::uint32_t api_version = 0;  ///< VkApplicationInfo::apiVersion; 1.2 or newer
    /// The enabled device extensions. A name that the device cannot have been made with is refused.
    std::vector<std::string> extensions;
    /// As given to vkCreateDevice, with its chain; its member `features` holds what pEnabledFeatures held.
    /// Read only during adopt(). timelineSemaphore must be on.
    const VkPhysicalDeviceFeatures2* features = nullptr;
    AdoptedQueue compute;
    /// If empty, or the same queue, that stage runs on the compute queue.
    std::optional<AdoptedQueue> upload, download;
    /// Other families whose queues will touch weft's buffers; the device must have been made with queues of
    /// them.
    std::vector<std::uint32_t> shared_families;
    /// Released, on any thread, when nothing of weft uses the device any more: for an owner that destroys
    /// device and instance.
    std::shared_ptr<void> owner;
};

/// A Backend on the application's device, with which all of weft works. weft does not destroy instance,
/// device or queues. They must live until the Backend and every Buffer, Program, Stream and JobPipeline made
/// from it are destroyed, which is when `owner` is released. Any number of backends may share a device.
/// Config::device is ignored. Config::validation cannot add the layer; if the application enabled it and
/// VK_EXT_debug_utils, its messages reach the log, the application's own included.
///
/// Errors: invalid_argument - a handle missing or of another device, a queue that is not what family and
/// index say, half a lock; unsupported - version, timelineSemaphore or a compute queue missing; no_loader.
Backend adopt(const AdoptedDevice& device, const Config& config = Config::from_env());

/// What a queue does for weft. Several roles may share one VkQueue.
enum class Role { upload, compute, download };

struct Queue {
    VkQueue queue = VK_NULL_HANDLE;
    std::uint32_t family = 0, index = 0;
};

/// Valid while the Backend or anything made from it lives. Nothing in it may be destroyed.
struct Handles {
    VkInstance instance = VK_NULL_HANDLE;
    VkPhysicalDevice physical_device = VK_NULL_HANDLE;
    VkDevice device = VK_NULL_HANDLE;
    Queue upload, compute, download;
    /// From the loader that made the instance. Functions of another loader must not be used with it.
    PFN_vkGetInstanceProcAddr get_instance_proc_addr = nullptr;
    PFN_vkGetDeviceProcAddr get_device_proc_addr = nullptr;
    std::uint32_t api_version = 0;  ///< the version that may be used: the lower one of instance and device
};
Handles handles(const Backend& backend);

/// A range of a VkBuffer made for storage and for copies in both directions. Valid while the buffer or a view
/// of it lives. weft does not know about your use, so keep it alive until that has ended. Shared
/// (VK_SHARING_MODE_CONCURRENT) between the families of weft's queues and AdoptedDevice::shared_families, if
/// there are several.
struct BufferRange {
    VkBuffer buffer = VK_NULL_HANDLE;
    VkDeviceSize offset = 0, bytes = 0;
};
BufferRange buffer_range(const std::shared_ptr<core::BufferObject>& object, std::uint64_t offset,
                         std::uint64_t bytes);

/// Errors: invalid_argument - the buffer was moved from.
template <class T>
BufferRange buffer(const BufferView<T>& view) {
    return buffer_range(detail::Access::object(view), view.first() * sizeof(T), view.bytes());
}
template <class T>
BufferRange buffer(const Buffer<T>& whole) {
    return buffer(whole.view());
}
/// Page-locked memory as the device sees it. Host writes are visible to later submissions if the memory is
/// coherent, which it is if the device has such memory.
template <class T>
BufferRange host_buffer(const HostBuffer<T>& whole) {
    return buffer(whole.view());
}

/// What you need to dispatch a Program yourself. All programs of a backend share the layouts: storage buffers
/// at every binding of set 0 and `push_constant_bytes` of push constants from offset 0, of which the first 8
/// are count and first (program.hpp). Valid while the Program lives.
struct Pipeline {
    VkPipeline pipeline = VK_NULL_HANDLE;
    VkPipelineLayout layout = VK_NULL_HANDLE;
    VkDescriptorSetLayout set_layout = VK_NULL_HANDLE;
    std::uint32_t push_constant_bytes = 0;
};
Pipeline pipeline(const Program& program);

/// A point on a timeline semaphore: reached when its counter is at least `value`.
struct Point {
    VkSemaphore semaphore = VK_NULL_HANDLE;
    std::uint64_t value = 0;
};
/// The last work that weft has submitted in a role: wait for it in a submission of your own, or with
/// vkWaitSemaphores. Do not signal weft's semaphores.
Point last_submission(const Backend& backend, Role role);
/// The same for the work before an Event. A default-made Event has no semaphore and is always reached.
Point point(const Event& event);

/// All work that weft submits to the role's queue from now on waits until the application has reached
/// `point`, and sees the memory it wrote. Weft's other queues do not wait. Errors: invalid_argument - null;
/// device_lost.
void wait_for(const Backend& backend, Role role, Point point);
/// Signals `point` when all that weft has submitted to the role's queue so far is done. `value` must rise.
/// Errors: as wait_for.
void signal_after(const Backend& backend, Role role, Point point);

/// Calls `steps` with a Stream that records into `commands`, a command buffer of the application's in the
/// recording state, outside of a render pass, for a queue that can compute. weft also records barriers
/// between the steps, before the first (against all transfers and kernels before it) and after the last (for
/// the same, and for reads by the host). Afterwards the bound pipeline, set 0 and the push constants are
/// weft's. The application submits `commands`, and holds a QueueLock meanwhile if the queue is one of weft's.
/// The stream refuses submit, wait, download, replay and record, and ends with the call. Exceptions of
/// `steps` are passed on, and `commands` is then half recorded.
///
/// Returns what the commands need (buffers, staging, descriptor sets): keep it until they will not run again.
/// Errors: invalid_argument - null; device_lost; those of the steps.
[[nodiscard]] std::shared_ptr<void> record(Backend& backend, VkCommandBuffer commands,
                                           const std::function<void(Stream&)>& steps);

/// As long as it lives, neither weft nor any other user of the lock uses the role's queue, so this thread may
/// submit to it. Hold it briefly, because weft's submissions wait meanwhile. While you hold it, call no
/// function of weft and take no second lock: another role may be the same queue. Errors: driver - the
/// application's lock threw.
class QueueLock {
  public:
    QueueLock(const Backend& backend, Role role);
    ~QueueLock();
    QueueLock(const QueueLock&) = delete;
    QueueLock& operator=(const QueueLock&) = delete;

    VkQueue queue() const noexcept { return queue_; }

  private:
    std::shared_ptr<core::BackendState> backend_state_;
    Role role_;
    VkQueue queue_ = VK_NULL_HANDLE;
};

}  // namespace weft::native
