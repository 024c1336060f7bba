// SPDX-License-Identifier: Apache-2.0
#include "vulkan/context/buffer_object.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string_view>
#include <utility>

#include "base/file_io.hpp"
#include "base/log.hpp"
#include "base/startup.hpp"
#include "plan/work/offset_allocator.hpp"
#include "vulkan/context/context.hpp"
#include "vulkan/memory/block_source.hpp"

namespace weft::core {
namespace {

std::uint64_t next_id() {
    static std::atomic<std::uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

constexpr VkBufferUsageFlags kUsage =
    VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;

/// Called while `e` is handled. The pool knows sizes only, and a caller wants to know for which buffer there
/// is no memory.
[[noreturn]] void rethrow_named(const Error& e, const std::string& name) {
    if (e.code() != Errc::out_of_memory) throw;
    constexpr std::string_view kPool = "MemoryPool: ";
    std::string why = e.what();
    if (why.starts_with(kPool)) why.erase(0, kPool.size());
    throw Error(e.code(), "Buffer \"" + name + "\": " + why, e.native_code());
}

}  // namespace

BufferObject::BufferObject(std::shared_ptr<Context> context, std::uint64_t bytes, std::string name)
    : context_(std::move(context)), bytes_(bytes), id_(next_id()), name_(std::move(name)) {}

void BufferObject::make_buffer(VkExternalMemoryHandleTypeFlags handle_types) {
    Device& device = context_->device;
    const auto& families = device.plan().queues.families;
    VkExternalMemoryBufferCreateInfo external{VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO};
    external.handleTypes = handle_types;
    VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    if (handle_types != 0) info.pNext = &external;
    info.size = bytes_;
    info.usage = kUsage;
    // Shared between families: no driver is known to be slower with shared buffers, and no ownership has to
    // be transferred.
    info.sharingMode = families.size() > 1 ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE;
    if (families.size() > 1) {
        info.queueFamilyIndexCount = static_cast<std::uint32_t>(families.size());
        info.pQueueFamilyIndices = families.data();
    }
    device.check(device.vk.vkCreateBuffer(device.handle(), &info, nullptr, &handle_), "vkCreateBuffer");
    CounterCells::add(device.counters.objects);
    device.set_name(VK_OBJECT_TYPE_BUFFER, handle_, name_);
}

std::uint64_t padded_bytes(const Device& device, std::uint64_t bytes, const std::string& name) {
    const std::uint64_t limit = device.snapshot().limits.max_buffer_bytes;
    if (bytes > limit)
        throw Error(Errc::invalid_argument, "Buffer \"" + name + "\": too large for this device (got " +
                                                std::to_string(bytes) + " bytes, need at most " +
                                                std::to_string(limit) + ")");
    // Vulkan has no empty buffers, and shaders read words of 4 bytes and vectors of 16.
    return std::max<std::uint64_t>((bytes + 15) / 16 * 16, 16);
}

std::shared_ptr<BufferObject> BufferObject::create(const std::shared_ptr<Context>& context, MemoryKind kind,
                                                   std::uint64_t bytes, std::string name) {
    const std::uint64_t padded = padded_bytes(context->device, bytes, name);
    std::shared_ptr<BufferObject> buffer(new BufferObject(context, padded, std::move(name)));
    buffer->host_memory_ = kind == MemoryKind::upload || kind == MemoryKind::download;
    try {
        buffer->place_in_first(kind);
    } catch (const Error& e) {
        rethrow_named(e, buffer->name_);
    }
    buffer->count();
    return buffer;
}

void BufferObject::place_in_first(MemoryKind kind) {
    BlockSource& first = context_->memory.source(kind, bytes_);
    try {
        place_in(first);
    } catch (const Error& e) {
        BlockSource& other = context_->memory.driver_source(kind);
        if (&other == &first || e.code() != Errc::out_of_memory) throw;
        place_in(other);
    }
}

void BufferObject::count() {
    context_->memory.count_buffer(name_, bytes_);
    counted_ = true;
}

void BufferObject::place_in(BlockSource& source) {
    Device& device = context_->device;
    if (handle_ != VK_NULL_HANDLE) device.vk.vkDestroyBuffer(device.handle(), handle_, nullptr);
    handle_ = VK_NULL_HANDLE;
    make_buffer(source.handle_types());
    VkMemoryRequirements needs;
    device.vk.vkGetBufferMemoryRequirements(device.handle(), handle_, &needs);
    range_ = context_->memory.allocate(source, needs.size, needs.alignment);
    device.check(device.vk.vkBindBufferMemory(device.handle(), handle_, range_.memory, range_.offset),
                 "vkBindBufferMemory");
    mapped_ = range_.mapped;
    coherent_ = mapped_ == nullptr || context_->memory.coherent(source);
    memory_source_ = source.name();
}

void BufferObject::bind_imported(const void* base) {
    Device& device = context_->device;
    const auto type = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
    VkMemoryHostPointerPropertiesEXT pointer{VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
    device.check(device.vk.vkGetMemoryHostPointerPropertiesEXT(device.handle(), type, base, &pointer),
                 "vkGetMemoryHostPointerPropertiesEXT");
    VkMemoryRequirements needs;
    device.vk.vkGetBufferMemoryRequirements(device.handle(), handle_, &needs);
    const std::uint32_t types = pointer.memoryTypeBits & needs.memoryTypeBits;
    if (types == 0 || needs.size > bytes_)
        throw Error(Errc::unsupported, "import: these pages fit no memory type of the device");
    std::uint32_t index = static_cast<std::uint32_t>(__builtin_ctz(types));
    const auto& all = device.snapshot().memory_types;
    for (std::uint32_t i = 0; i < all.size(); ++i)
        if (((types >> i) & 1u) != 0 && all[i].host_cached && all[i].host_coherent) index = i;
    coherent_ = all[index].host_coherent;
    host_memory_ = true;

    VkImportMemoryHostPointerInfoEXT import{VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT};
    import.handleType = type;
    import.pHostPointer = const_cast<void*>(base);  // the API takes no const pointer; inputs are only read
    imported_ =
        allocate_memory(device, {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &import, bytes_, index}, name_);
    CounterCells::add(device.counters.imports);
    device.check(device.vk.vkBindBufferMemory(device.handle(), handle_, imported_, 0), "vkBindBufferMemory");
    mapped_ = static_cast<std::byte*>(const_cast<void*>(base));
}

std::shared_ptr<BufferObject> BufferObject::import(const std::shared_ptr<Context>& context,
                                                   const void* pointer, std::uint64_t bytes) {
    const std::uint64_t alignment = context->device.snapshot().limits.import_alignment;
    if (!context->device.plan().external_memory_host || alignment == 0)
        throw Error(Errc::unsupported,
                    "import: the device cannot import host memory (need VK_EXT_external_memory_host)");
    const auto begin = reinterpret_cast<std::uintptr_t>(pointer) / alignment * alignment;
    const auto end =
        (reinterpret_cast<std::uintptr_t>(pointer) + bytes + alignment - 1) / alignment * alignment;
    const auto start = std::chrono::steady_clock::now();
    std::shared_ptr<BufferObject> buffer(new BufferObject(context, end - begin, "import"));
    buffer->make_buffer(VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT);
    buffer->bind_imported(reinterpret_cast<const void*>(begin));
    context->host_ranges.insert(buffer);
    if (const Log& log = context->device.log(); log.enabled(LogLevel::info))
        log.write(LogLevel::info, "import: " + std::to_string(end - begin) + " bytes of ordinary memory in " +
                                      ms_text(seconds_since(start)));
    return buffer;
}

void log_refused_import(const Context& context, const Error& refusal) {
    if (const Log& log = context.device.log(); log.enabled(LogLevel::info))
        log.write(LogLevel::info,
                  std::string("import: refused, the memory is copied (") + refusal.what() + ")");
}

BufferObject::~BufferObject() {
    Device& device = context_->device;
    if (device.untouchable()) return;
    if (mapped_ != nullptr) context_->host_ranges.erase(*this);
    if (handle_ != VK_NULL_HANDLE) device.vk.vkDestroyBuffer(device.handle(), handle_, nullptr);
    if (imported_ != VK_NULL_HANDLE) device.vk.vkFreeMemory(device.handle(), imported_, nullptr);
    context_->memory.release(range_);
    if (counted_) context_->memory.uncount_buffer(name_, bytes_);
}

VkMappedMemoryRange BufferObject::mapped_range(std::uint64_t offset, std::uint64_t bytes) const {
    VkMappedMemoryRange range{VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE};
    const bool imported = imported_ != VK_NULL_HANDLE;
    const MappedRange r = flush_range((imported ? 0 : range_.offset) + offset, bytes,
                                      context_->device.snapshot().limits.non_coherent_atom_bytes,
                                      imported ? bytes_ : range_.block_bytes);
    range.memory = imported ? imported_ : range_.memory;
    range.offset = r.offset;
    range.size = r.bytes;
    return range;
}

void BufferObject::flush(std::uint64_t offset, std::uint64_t bytes) const {
    if (coherent_ || bytes == 0) return;
    const VkMappedMemoryRange range = mapped_range(offset, bytes);
    Device& device = context_->device;
    device.check(device.vk.vkFlushMappedMemoryRanges(device.handle(), 1, &range),
                 "vkFlushMappedMemoryRanges");
}

void BufferObject::invalidate(std::uint64_t offset, std::uint64_t bytes) const {
    if (coherent_ || bytes == 0) return;
    const VkMappedMemoryRange range = mapped_range(offset, bytes);
    Device& device = context_->device;
    device.check(device.vk.vkInvalidateMappedMemoryRanges(device.handle(), 1, &range),
                 "vkInvalidateMappedMemoryRanges");
}

HostRange HostRanges::find(const void* pointer) const {
    const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
    const std::shared_lock lock(mutex_);
    auto it = by_begin_.upper_bound(begin);
    if (it == by_begin_.begin()) return {};
    --it;
    if (begin >= it->second.end) return {};
    return {it->second.buffer.lock(), begin - it->first, it->second.end - begin};
}

void HostRanges::insert(const std::shared_ptr<BufferObject>& buffer) {
    const auto begin = reinterpret_cast<std::uintptr_t>(buffer->mapped());
    const Entry entry{begin + buffer->bytes(), buffer->id(), buffer};
    const std::unique_lock lock(mutex_);
    const auto [it, fresh] = by_begin_.try_emplace(begin, entry);
    if (!fresh && it->second.end < entry.end) it->second = entry;
}

void HostRanges::erase(const BufferObject& buffer) noexcept {
    const std::unique_lock lock(mutex_);
    const auto it = by_begin_.find(reinterpret_cast<std::uintptr_t>(buffer.mapped()));
    if (it != by_begin_.end() && it->second.id == buffer.id()) by_begin_.erase(it);
}

HostRange ImportRegistry::find_or_import(const std::shared_ptr<Context>& context, const void* pointer,
                                         std::uint64_t bytes) {
    HostRange found = context->host_ranges.find(pointer);
    const std::lock_guard lock(mutex_);
    if (found.buffer && found.bytes >= bytes) {
        const auto it = std::find(recent_.begin(), recent_.end(), found.buffer);
        if (it != recent_.end()) recent_.splice(recent_.begin(), recent_, it);
        return found;
    }
    try {
        auto buffer = BufferObject::import(context, pointer, bytes);
        recent_.push_front(buffer);
        if (recent_.size() > kCapacity) recent_.pop_back();
        const auto base = reinterpret_cast<std::uintptr_t>(buffer->mapped());
        return {std::move(buffer), reinterpret_cast<std::uintptr_t>(pointer) - base};
    } catch (const Error& e) {
        if (e.code() == Errc::device_lost) throw;
        log_refused_import(*context, e);
        return {};
    }
}

void ImportRegistry::clear() noexcept {
    const std::lock_guard lock(mutex_);
    recent_.clear();
}

std::shared_ptr<BufferObject> BufferObject::create_exportable(const std::shared_ptr<Context>& context,
                                                              std::uint64_t bytes, std::string name) {
    Device& device = context->device;
    const std::uint64_t padded = padded_bytes(device, bytes, name);
    std::shared_ptr<BufferObject> buffer(new BufferObject(context, padded, std::move(name)));
    buffer->make_buffer(VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT);
    VkMemoryRequirements needs;
    device.vk.vkGetBufferMemoryRequirements(device.handle(), buffer->handle_, &needs);
    buffer->export_source_ =
        std::make_unique<ExportSource>(device, device.plan().memory.device, buffer->handle_);
    try {
        buffer->range_ = context->memory.allocate_whole(*buffer->export_source_, needs.size);
    } catch (const Error& e) {
        rethrow_named(e, buffer->name_);
    }
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
    // A duplicate, so that the caller keeps its own if something fails.
    FileDescriptor own(fcntl(fd, F_DUPFD_CLOEXEC, 0));
    if (own.get() < 0)
        throw Error(Errc::invalid_argument,
                    "import: no open file descriptor (got " + std::to_string(fd) + ")");
    import.fd = own.get();
    imported_ = allocate_memory(
        device, {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &import, allocation_bytes, type}, name_);
    own.release();  // the allocation owns it from here on
    CounterCells::add(device.counters.imports);
    device.check(device.vk.vkBindBufferMemory(device.handle(), handle_, imported_, first),
                 "vkBindBufferMemory");
}

std::shared_ptr<BufferObject> BufferObject::import_fd(const std::shared_ptr<Context>& context, int fd,
                                                      std::uint64_t allocation_bytes, std::uint64_t first,
                                                      std::uint64_t bytes, std::string name) {
    const std::uint64_t padded = padded_bytes(context->device, bytes, name);
    std::shared_ptr<BufferObject> buffer(new BufferObject(context, padded, std::move(name)));
    buffer->make_buffer(VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT);
    buffer->bind_foreign(fd, allocation_bytes, first);
    buffer->count();
    close(fd);  // last, because nothing can fail any more
    return buffer;
}

}  // namespace weft::core
