// SPDX-License-Identifier: Apache-2.0
#include "core/external_memory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "core/external_source.hpp"
#include "core/runtime.hpp"
#include "core/stream_state.hpp"

namespace weft::core {

FileDescriptor::~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
}

MemoryBlock ExportSource::take(std::uint64_t bytes) {
    VkMemoryDedicatedAllocateInfo dedicated{VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO};
    dedicated.buffer = buffer_;
    VkExportMemoryAllocateInfo exported{VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO, &dedicated};
    exported.handleTypes = handle_types();
    VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &exported};
    info.allocationSize = bytes;
    info.memoryTypeIndex = type_;
    MemoryBlock block;
    block.bytes = bytes;
    device_.check(device_.vk.vkAllocateMemory(device_.handle(), &info, nullptr, &block.memory),
                  "vkAllocateMemory");
    CounterCells::add(device_.counters.allocations);
    device_.set_name(VK_OBJECT_TYPE_DEVICE_MEMORY, block.memory, "weft exportable memory");
    return block;
}

void ExportSource::give_back(MemoryBlock& block) noexcept {
    device_.vk.vkFreeMemory(device_.handle(), block.memory, nullptr);
    block = {};
}

std::shared_ptr<BufferObject> BufferObject::create_exportable(const std::shared_ptr<Context>& context,
                                                              std::uint64_t bytes, std::string name) {
    Device& device = context->device;
    std::shared_ptr<BufferObject> buffer(
        new BufferObject(context, padded_bytes(device, bytes), std::move(name)));
    buffer->make_buffer(VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT);
    VkMemoryRequirements needs;
    device.vk.vkGetBufferMemoryRequirements(device.handle(), buffer->handle_, &needs);
    buffer->export_source_ =
        std::make_unique<ExportSource>(device, device.plan().memory.device, buffer->handle_);
    buffer->range_ = context->memory.allocate_whole(*buffer->export_source_, needs.size);
    device.check(device.vk.vkBindBufferMemory(device.handle(), buffer->handle_, buffer->range_.memory, 0),
                 "vkBindBufferMemory");
    buffer->memory_source_ = buffer->export_source_->name();
    buffer->count();
    return buffer;
}

void BufferObject::bind_foreign(int fd, std::uint64_t allocation_bytes, std::uint64_t first) {
    Device& device = context_->device;
    VkMemoryRequirements needs;
    device.vk.vkGetBufferMemoryRequirements(device.handle(), handle_, &needs);
    const std::uint32_t type = device.plan().memory.device;
    if (first % needs.alignment != 0 || first > allocation_bytes || needs.size > allocation_bytes - first)
        throw Error(Errc::invalid_argument, "import: the range does not fit its allocation (got " +
                                                std::to_string(first) + " bytes in, of " +
                                                std::to_string(allocation_bytes) + ", need a multiple of " +
                                                std::to_string(needs.alignment) + " with " +
                                                std::to_string(needs.size) + " bytes behind it)");
    if (((needs.memoryTypeBits >> type) & 1u) == 0)
        throw Error(Errc::unsupported, "import: device memory fits no shared buffer of this device");
    VkImportMemoryFdInfoKHR import{VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR};
    import.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    // A copy, so that the caller's own stays the caller's whatever fails.
    FileDescriptor own(fcntl(fd, F_DUPFD_CLOEXEC, 0));
    if (own.get() < 0)
        throw Error(Errc::invalid_argument,
                    "import: no open file descriptor (got " + std::to_string(fd) + ")");
    import.fd = own.get();
    VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &import};
    info.allocationSize = allocation_bytes;
    info.memoryTypeIndex = type;
    device.check(device.vk.vkAllocateMemory(device.handle(), &info, nullptr, &imported_), "vkAllocateMemory");
    own.release();  // the allocation's from here on
    CounterCells::add(device.counters.allocations);
    CounterCells::add(device.counters.imports);
    device.set_name(VK_OBJECT_TYPE_DEVICE_MEMORY, imported_, name_);
    device.check(device.vk.vkBindBufferMemory(device.handle(), handle_, imported_, first),
                 "vkBindBufferMemory");
}

std::shared_ptr<BufferObject> BufferObject::import_fd(const std::shared_ptr<Context>& context, int fd,
                                                      std::uint64_t allocation_bytes, std::uint64_t first,
                                                      std::uint64_t bytes, std::string name) {
    std::shared_ptr<BufferObject> buffer(
        new BufferObject(context, padded_bytes(context->device, bytes), std::move(name)));
    buffer->make_buffer(VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT);
    buffer->bind_foreign(fd, allocation_bytes, first);
    buffer->count();
    close(fd);  // last, when nothing can fail any more
    return buffer;
}

void require_external(const Runtime& runtime, const char* function) {
    const Device& device = runtime.context()->device;
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

std::shared_ptr<BufferObject> make_exportable_buffer(const Runtime& runtime, std::uint64_t bytes,
                                                     const std::string& name) {
    return BufferObject::create_exportable(runtime.context(), bytes, name);
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

std::shared_ptr<BufferObject> import_buffer(const Runtime& runtime, const ForeignMemory& memory,
                                            const std::string& name) {
    return BufferObject::import_fd(runtime.context(), memory.fd, memory.allocation_bytes, memory.first,
                                   memory.bytes, name);
}

const void* context_of(const Runtime& runtime) {
    return runtime.context().get();
}

const void* context_of(const Event& event) {
    return event.state() ? event.state()->context.get() : nullptr;
}

}  // namespace weft::core
