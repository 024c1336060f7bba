// SPDX-License-Identifier: Apache-2.0
#include "vulkan/backend/external_memory.hpp"

#include "vulkan/engine/backend_state.hpp"
#include "vulkan/stream/stream_state.hpp"

namespace weft::core {
namespace {

FileDescriptor export_semaphore(Device& device, VkSemaphore semaphore) {
    VkSemaphoreGetFdInfoKHR info{VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR};
    info.semaphore = semaphore;
    info.handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
    int fd = -1;
    device.check(device.vk.vkGetSemaphoreFdKHR(device.handle(), &info, &fd), "vkGetSemaphoreFdKHR");
    return FileDescriptor(fd);
}

}  // namespace

void require_external(const BackendState& backend_state, const char* function) {
    const Device& device = backend_state.context()->device;
    device.require_usable(function);
    const DevicePlan& plan = device.plan();
    const char* lacking = !plan.shared_buffers_fd     ? "VK_KHR_external_memory_fd for buffers"
                          : !plan.shared_timelines_fd ? "VK_KHR_external_semaphore_fd for timeline semaphores"
                                                      : nullptr;
    if (lacking != nullptr)
        throw Error(Errc::unsupported, std::string(function) + ": " + device.snapshot().name +
                                           " cannot share with other APIs (got no " + lacking +
                                           "; an adopted device must have been made with it)");
}

std::shared_ptr<BufferObject> make_exportable_buffer(const BackendState& backend_state, std::uint64_t bytes,
                                                     const std::string& name) {
    return BufferObject::create_exportable(backend_state.context(), bytes, name);
}

ExportedMemory export_memory(const BufferObject& buffer) {
    Device& device = buffer.context()->device;
    if (buffer.exportable() == VK_NULL_HANDLE)
        throw Error(Errc::invalid_argument, "export: the buffer was not made to be shared");
    VkMemoryGetFdInfoKHR info{VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR};
    info.memory = buffer.exportable();
    info.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    int fd = -1;
    device.check(device.vk.vkGetMemoryFdKHR(device.handle(), &info, &fd), "vkGetMemoryFdKHR");
    return {FileDescriptor(fd), buffer.allocation_bytes()};
}

std::shared_ptr<BufferObject> import_buffer(const BackendState& backend_state, const ForeignMemory& memory,
                                            const std::string& name) {
    return BufferObject::import_fd(backend_state.context(), memory.fd, memory.allocation_bytes, memory.first,
                                   memory.bytes, name);
}

const void* context_of(const BackendState& backend_state) {
    return backend_state.context().get();
}

const void* context_of(const Event& event) {
    return detail::Access::state(event) ? detail::Access::state(event)->context.get() : nullptr;
}

FileDescriptor export_work_timeline(const BackendState& backend_state, std::size_t timeline) {
    Context& context = *backend_state.context();
    return export_semaphore(context.device, context.timelines.shared(static_cast<QueueRole>(timeline)));
}

WorkPoint work_point(const Event& event) {
    if (!detail::Access::state(event)) return {};
    const EventState& state = *detail::Access::state(event);
    if (state.external) return {0, state.external_value, state.external};
    return {static_cast<std::size_t>(state.token.role), state.token.value, nullptr};
}

std::array<WorkPoint, kWorkTimelines> last_work(const BackendState& backend_state) {
    static_assert(kWorkTimelines == kQueueRoles);
    std::array<WorkPoint, kWorkTimelines> points;
    for (std::size_t i = 0; i < kWorkTimelines; ++i)
        points[i] = {i, backend_state.context()->timelines.last(static_cast<QueueRole>(i)).value, nullptr};
    return points;
}

std::shared_ptr<ExternalTimeline> make_external_timeline(const BackendState& backend_state,
                                                         std::function<std::string()> check) {
    const std::shared_ptr<Context>& context = backend_state.context();
    auto timeline = std::make_shared<ExternalTimeline>(context, std::move(check));
    context->externals.add(timeline);
    context->timelines.on_slow_wait([c = context.get()] { c->externals.poll(); });
    return timeline;
}

FileDescriptor export_timeline(const ExternalTimeline& timeline) {
    return export_semaphore(timeline.context()->device, timeline.point(0).semaphore);
}

Event external_event(const std::shared_ptr<ExternalTimeline>& timeline, std::uint64_t value) {
    timeline->expect_value(value);
    return detail::Access::make<Event>(
        std::make_shared<const EventState>(EventState{timeline->context(), {}, {}, timeline, value}));
}

void hold_all(const BackendState& backend_state, const Event& event) {
    Context& context = *backend_state.context();
    context.device.require_usable("hold_all");
    const EventState& state = *detail::Access::state(event);
    for (std::size_t i = 0; i < kQueueRoles; ++i)
        state.external->add_waiter(
            context.timelines.submit_after(static_cast<QueueRole>(i), {}, state.point()));
}

void poll(ExternalTimeline& timeline) noexcept {
    timeline.poll();
}

}  // namespace weft::core
