// SPDX-License-Identifier: Apache-2.0
#include "vulkan/device/vulkan.hpp"  // first: volk's form of the Vulkan headers

#include <weft/native.hpp>

#include <algorithm>
#include <utility>

#include "base/enums.hpp"
#include "vulkan/engine/program.hpp"
#include "vulkan/stream/stream_state.hpp"

namespace weft::native {
namespace {

core::Device& device_of(const Backend& backend) {
    return detail::Access::backend_state(backend)->context()->device;
}

core::QueueRole role_of(Role role, const char* function) {
    core::check_enum(function, "role of a queue", role, Role::download);
    static_assert(static_cast<int>(Role::download) == static_cast<int>(core::QueueRole::download));
    return static_cast<core::QueueRole>(role);
}

Queue queue_of(const core::Device& device, core::QueueRole role) {
    const core::PhysicalQueue& queue = device.queue(role);
    return {queue.handle, queue.slot.family, queue.slot.queue};
}

/// An empty submission that waits or signals. Within a queue a semaphore wait holds up all that is submitted
/// later, and a signal covers all that was submitted before, so this orders weft's work.
void order(const Backend& backend, Role role, Point point, bool wait, const char* what) {
    const core::QueueRole queue_role = role_of(role, what);
    core::Device& device = device_of(backend);
    device.require_usable(what);
    if (point.semaphore == VK_NULL_HANDLE)
        throw Error(Errc::invalid_argument, std::string(what) + ": no semaphore (got null, need one)");
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    VkTimelineSemaphoreSubmitInfo values{VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO};
    VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO, &values};
    if (wait) {
        values.waitSemaphoreValueCount = info.waitSemaphoreCount = 1;
        values.pWaitSemaphoreValues = &point.value;
        info.pWaitSemaphores = &point.semaphore;
        info.pWaitDstStageMask = &stage;
    } else {
        values.signalSemaphoreValueCount = info.signalSemaphoreCount = 1;
        values.pSignalSemaphoreValues = &point.value;
        info.pSignalSemaphores = &point.semaphore;
    }
    {
        core::PhysicalQueue& queue = device.queue(queue_role);
        const std::lock_guard lock(queue.mutex);
        device.check(device.vk.vkQueueSubmit(queue.handle, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
        core::CounterCells::add(device.counters.submissions);
    }
    // A later point on weft's own timeline, so that waits for all of weft's work include it.
    detail::Access::backend_state(backend)->context()->timelines.submit(queue_role, VK_NULL_HANDLE);
}

bool records(const Stream& stream, const core::StreamState& state) {
    try {
        return &stream.name() == &state.name();
    } catch (const Error&) {  // it was moved from
        return false;
    }
}

}  // namespace

Handles handles(const Backend& backend) {
    const core::Device& device = device_of(backend);
    const core::Instance& instance = device.instance();
    Handles h;
    h.instance = instance.handle();
    h.physical_device = device.physical();
    h.device = device.handle();
    h.upload = queue_of(device, core::QueueRole::upload);
    h.compute = queue_of(device, core::QueueRole::compute);
    h.download = queue_of(device, core::QueueRole::download);
    h.get_instance_proc_addr = instance.vk.vkGetInstanceProcAddr;
    h.get_device_proc_addr = instance.vk.vkGetDeviceProcAddr;
    const core::DeviceSnapshot& s = device.snapshot();
    h.api_version = std::min(instance.api_version(), VK_MAKE_API_VERSION(0, s.api_major, s.api_minor, 0));
    return h;
}

BufferRange buffer_range(const std::shared_ptr<core::BufferObject>& object, std::uint64_t offset,
                         std::uint64_t bytes) {
    if (!object)
        throw Error(Errc::invalid_argument, "native::buffer: the buffer was moved from (got none, need one)");
    return {object->handle(), offset, bytes};
}

Pipeline pipeline(const Program& program) {
    const core::ProgramObject& object = *detail::Access::object(program);
    const core::Device& device = object.context->device;
    return {object.pipeline->handle, device.pipeline_layout(), device.set_layout(),
            device.plan().push_constant_bytes};
}

Point last_submission(const Backend& backend, Role role) {
    core::Timelines& timelines = detail::Access::backend_state(backend)->context()->timelines;
    const core::Token token = timelines.last(role_of(role, "native::last_submission"));
    return {timelines.semaphore(token.role), token.value};
}

Point point(const Event& event) {
    if (!detail::Access::state(event)) return {};
    const core::SemaphorePoint point = detail::Access::state(event)->point();
    return {point.semaphore, point.value};
}

std::shared_ptr<void> record(Backend& backend, VkCommandBuffer commands,
                             const std::function<void(Stream&)>& steps) {
    if (commands == VK_NULL_HANDLE || !steps)
        throw Error(Errc::invalid_argument,
                    std::string("native::record: no ") + (steps ? "commands" : "steps") + " (got null)");
    auto state = std::make_unique<core::StreamState>(detail::Access::backend_state(backend), "native::record",
                                                     commands);
    core::StreamState& recording = *state;
    const auto stream = std::make_shared<Stream>(detail::Access::make<Stream>(std::move(state)));
    const auto held = recording.shared_from_this();  // whatever `steps` does to the stream
    try {
        steps(*stream);
    } catch (...) {
        held->end_external(false);
        throw;
    }
    const bool stayed = records(*stream, recording);
    held->end_external(stayed);
    if (!stayed)
        throw Error(Errc::invalid_argument,
                    "native::record: the stream was moved from or assigned to inside (need it to stay)");
    return stream;
}

void wait_for(const Backend& backend, Role role, Point point) {
    order(backend, role, point, true, "native::wait_for");
}

void signal_after(const Backend& backend, Role role, Point point) {
    order(backend, role, point, false, "native::signal_after");
}

QueueLock::QueueLock(const Backend& backend, Role role)
    : backend_state_(detail::Access::backend_state(backend)), role_(role) {
    core::PhysicalQueue& queue = backend_state_->context()->device.queue(role_of(role_, "native::QueueLock"));
    queue.mutex.lock();
    queue_ = queue.handle;
}

QueueLock::~QueueLock() {
    backend_state_->context()->device.queue(role_of(role_, "native::QueueLock")).mutex.unlock();
}

}  // namespace weft::native
