// SPDX-License-Identifier: Apache-2.0
// Vulkan itself, for programs that have their own: a Backend on the application's device, and raw handles.
// The only header of weft that includes Vulkan's; weft/weft.hpp leaves it out.
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
#include <weft/program.hpp>
#include <weft/stream.hpp>

namespace weft::native {

/// A queue of the application's. Vulkan lets one thread at a time use it: if you use it as well, either take
/// a QueueLock around each use, or give weft the lock that you take, in one of two forms. weft holds it for
/// the length of a submission only, and calls nothing of yours meanwhile.
struct AdoptedQueue {
    VkQueue queue = VK_NULL_HANDLE;          ///< made without flags
    std::uint32_t family = 0, index = 0;     ///< as given to vkGetDeviceQueue
    std::mutex* mutex = nullptr;             ///< must outlive all that weft makes
    std::function<void()> lock{}, unlock{};  ///< both or neither; unlock must not throw
};

/// A device of the application's, and how it was made. weft uses what was enabled and nothing that the
/// hardware merely can: a feature left out here counts as off.
struct AdoptedDevice {
    VkInstance instance = VK_NULL_HANDLE;
    VkPhysicalDevice physical_device = VK_NULL_HANDLE;
    VkDevice device = VK_NULL_HANDLE;
    /// Of the loader that made the instance. Null: of the loader that weft opens (Config::vulkan_library).
    PFN_vkGetInstanceProcAddr get_instance_proc_addr = nullptr;
    std::uint32_t api_version = 0;  ///< VkApplicationInfo::apiVersion; 1.2 or newer
    /// Of the device, as enabled. A name that the device cannot have been made with is refused.
    std::vector<std::string> extensions;
    /// As given to vkCreateDevice, with its chain; `features` holds what pEnabledFeatures held. Read during
    /// adopt() only. timelineSemaphore must be on.
    const VkPhysicalDeviceFeatures2* features = nullptr;
    AdoptedQueue compute;
    /// Left empty, or the same queue: that stage runs on the compute queue.
    std::optional<AdoptedQueue> upload, download;
    /// Other families whose queues will touch weft's buffers; the device must have been made with queues of
    /// them.
    std::vector<std::uint32_t> shared_families;
    /// Let go when nothing of weft uses the device any more, from whatever thread that happens on: the place
    /// for an owner that destroys device and instance.
    std::shared_ptr<void> owner;
};

/// A Backend on the application's device; all of weft works on it as on a device of its own. weft destroys
/// neither instance, device nor queues. They must live until the Backend and every Buffer, Program, Stream
/// and JobPipeline made from it are gone; `owner` knows when. Any number of backends may share a device.
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
    /// Of the loader that made the instance. Functions of another loader must not be used with it.
    PFN_vkGetInstanceProcAddr get_instance_proc_addr = nullptr;
    PFN_vkGetDeviceProcAddr get_device_proc_addr = nullptr;
    std::uint32_t api_version = 0;  ///< what may be used: the lesser of instance and device
};
Handles handles(const Backend& backend);

/// A range of a VkBuffer made for storage and copies both ways. Valid while the buffer or a view of it lives;
/// weft knows nothing of your use, so keep it alive until that has ended. Shared (VK_SHARING_MODE_CONCURRENT)
/// between the families of weft's queues and AdoptedDevice::shared_families, if these are more than one.
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
/// Page-locked memory, as the device sees it. Host writes are visible to later submissions if the memory is
/// coherent, as it is wherever the device has such.
template <class T>
BufferRange host_buffer(const HostBuffer<T>& whole) {
    return buffer(whole.view());
}

/// What it takes to dispatch a Program by hand. All programs of a backend share the layouts: storage buffers
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
/// recording state, outside of a render pass, for a queue that can compute. Barriers between the steps,
/// before the first (against all transfers and kernels before it) and after the last (for the same, and the
/// host's reads) are recorded too; bound pipeline, set 0 and push constants are weft's afterwards. The
/// application submits `commands`, under a QueueLock if to a queue of weft's. The stream refuses submit,
/// wait, download, replay and record, and ends with the call. What `steps` throws is passed on, with
/// `commands` half recorded.
///
/// Returns what the commands need (buffers, staging, descriptor sets): keep it until they will not run again.
/// Errors: invalid_argument - null; device_lost; those of the steps.
[[nodiscard]] std::shared_ptr<void> record(Backend& backend, VkCommandBuffer commands,
                                           const std::function<void(Stream&)>& steps);

/// Keeps weft, and every other user of its lock, off the role's queue as long as it lives, so that this
/// thread may submit to it. Keep it short: weft's submissions wait meanwhile. While holding it call nothing
/// of weft, and take no second one: another role may be the same queue. Errors: driver - the application's
/// lock threw.
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
