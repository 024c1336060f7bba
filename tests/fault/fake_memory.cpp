// SPDX-License-Identifier: Apache-2.0
// Hooks for memory types that do not exist, memory that is not coherent, and sizes that the machine does not
// have.
#include <algorithm>
#include <cstring>
#include <memory>
#include <unordered_map>

#include "fault/fake_driver.hpp"

namespace weft_fault {
namespace {

const FakeDriver& fake() {
    return State::get().fake();
}

struct Memory {
    VkDeviceSize bytes = 0, real_bytes = 0;
    std::uint32_t heap = 0;
    bool imported = false, visible = true, coherent = true;
    std::byte* mapped = nullptr;            // the driver's mapping
    std::unique_ptr<std::byte[]> shadow{};  // the copy for weft, if it must flush
};

std::mutex mutex;
std::unordered_map<VkBuffer, VkDeviceSize> buffers;  // requested bytes
std::unordered_map<VkDeviceMemory, Memory> memories;
std::unordered_map<std::uint32_t, VkDeviceSize> heap_use;

VkDeviceSize folded(VkDeviceSize bytes) {
    return fake().fold != 0 ? std::min<VkDeviceSize>(bytes, fake().fold) : bytes;
}

std::uint32_t all_types(bool visible_only) {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < fake().types.size(); ++i)
        if (!visible_only || fake().types[i].host_visible) bits |= 1u << i;
    return bits;
}

void change(VkBuffer buffer, VkMemoryRequirements& needs) {
    if (!fake().types.empty()) needs.memoryTypeBits = all_types(false);
    const std::lock_guard lock(mutex);
    const auto it = buffers.find(buffer);
    if (it != buffers.end() && it->second > needs.size)
        needs.size = (it->second + needs.alignment - 1) / needs.alignment * needs.alignment;
}

/// The driver's memory for a range; returns nothing and records a violation if the range is not allowed.
Memory* flushable(const VkMappedMemoryRange& range, VkDeviceSize& bytes, const char* what) {
    const auto it = memories.find(range.memory);
    const VkDeviceSize atom = std::max<VkDeviceSize>(fake().non_coherent_atom, 1);
    State& state = State::get();
    if (it == memories.end() || (!it->second.imported && it->second.mapped == nullptr)) {
        state.violation(std::string(what) + " of memory that is not mapped");
        return nullptr;
    }
    Memory& m = it->second;
    bytes = range.size == VK_WHOLE_SIZE ? m.bytes - std::min(m.bytes, range.offset) : range.size;
    if (range.offset > m.bytes || bytes > m.bytes - range.offset) {
        state.violation(std::string(what) + " beyond the memory");
        return nullptr;
    }
    if (range.offset % atom != 0 || (bytes % atom != 0 && range.offset + bytes != m.bytes))
        state.violation(std::string(what) + " of parts of atoms: offset " + std::to_string(range.offset) +
                        ", " + std::to_string(bytes) + " bytes");
    return m.shadow ? &m : nullptr;
}

/// Whether the described heap has room; without a description it always has.
VkResult charge(const VkMemoryAllocateInfo& info, Memory& m) {
    if (fake().types.empty()) return VK_SUCCESS;
    if (info.memoryTypeIndex >= fake().types.size()) {
        State::get().violation("vkAllocateMemory: no such type");
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    const TypeLie& type = fake().types[info.memoryTypeIndex];
    m.heap = type.heap;
    m.visible = type.host_visible;
    m.coherent = type.host_coherent || m.imported;
    if (m.imported) return VK_SUCCESS;
    if (fake().max_allocation != 0 && !fake().soft_allocation && info.allocationSize > fake().max_allocation)
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    if (info.allocationSize > fake().heaps[m.heap].bytes)
        State::get().violation("vkAllocateMemory: more than the heap");
    if (heap_use[m.heap] + info.allocationSize > fake().heaps[m.heap].bytes)
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    heap_use[m.heap] += info.allocationSize;
    return VK_SUCCESS;
}

}  // namespace

VkDeviceSize used_of_heap(std::uint32_t heap) {
    const std::lock_guard lock(mutex);
    return heap_use[heap];
}

VkDeviceSize fold(VkBuffer buffer, VkDeviceSize offset, VkDeviceSize bytes, const char* what) {
    const std::lock_guard lock(mutex);
    const auto it = buffers.find(buffer);
    if (it == buffers.end() || offset > it->second || bytes > it->second - offset) {
        State::get().violation(std::string(what) + ": range beyond a buffer or of none: offset " +
                               std::to_string(offset) + ", " + std::to_string(bytes) + " bytes");
        return 0;
    }
    if (fake().fold == 0) return offset;
    if (offset % fake().fold + bytes > fake().fold)
        State::get().violation(std::string(what) + ": the test's range meets itself");
    return offset % fake().fold;
}

VkResult act(Tag<Id::vkCreateBuffer>, VkDevice device, const VkBufferCreateInfo* wanted,
             const VkAllocationCallbacks* allocator, VkBuffer* out) {
    VkBufferCreateInfo info = *wanted;
    if (fake().max_buffer != 0 && info.size > fake().max_buffer)
        State::get().violation("vkCreateBuffer: larger than buffers can be");
    if (!fake().families.empty()) {
        const bool shared = info.sharingMode == VK_SHARING_MODE_CONCURRENT;
        if (shared && info.queueFamilyIndexCount < 2)
            State::get().violation("vkCreateBuffer: shared by fewer than two families");
        for (std::uint32_t i = 0; shared && i < info.queueFamilyIndexCount; ++i)
            if (info.pQueueFamilyIndices[i] >= fake().families.size())
                State::get().violation("vkCreateBuffer: no such family");
        info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
        info.queueFamilyIndexCount = 0;
    }
    info.size = folded(info.size);
    const VkResult result = real<Id::vkCreateBuffer>()(device, &info, allocator, out);
    if (result != VK_SUCCESS) return result;
    const std::lock_guard lock(mutex);
    buffers[*out] = wanted->size;
    return result;
}

void act(Tag<Id::vkDestroyBuffer>, VkDevice device, VkBuffer buffer, const VkAllocationCallbacks* allocator) {
    {
        const std::lock_guard lock(mutex);
        buffers.erase(buffer);
    }
    real<Id::vkDestroyBuffer>()(device, buffer, allocator);
}

void act(Tag<Id::vkGetBufferMemoryRequirements>, VkDevice device, VkBuffer buffer,
         VkMemoryRequirements* out) {
    real<Id::vkGetBufferMemoryRequirements>()(device, buffer, out);
    change(buffer, *out);
}

void act(Tag<Id::vkGetBufferMemoryRequirements2>, VkDevice device,
         const VkBufferMemoryRequirementsInfo2* info, VkMemoryRequirements2* out) {
    real<Id::vkGetBufferMemoryRequirements2>()(device, info, out);
    change(info->buffer, out->memoryRequirements);
}

VkResult act(Tag<Id::vkGetMemoryHostPointerPropertiesEXT>, VkDevice device,
             VkExternalMemoryHandleTypeFlagBits type, const void* pointer,
             VkMemoryHostPointerPropertiesEXT* out) {
    const VkResult result = real<Id::vkGetMemoryHostPointerPropertiesEXT>()(device, type, pointer, out);
    if (!fake().types.empty() && out->memoryTypeBits != 0) out->memoryTypeBits = all_types(true);
    return result;
}

VkResult act(Tag<Id::vkAllocateMemory>, VkDevice device, const VkMemoryAllocateInfo* wanted,
             const VkAllocationCallbacks* allocator, VkDeviceMemory* out) {
    VkMemoryAllocateInfo info = *wanted;
    Memory m{.bytes = info.allocationSize};
    for_each_in_chain(const_cast<void*>(info.pNext), [&](VkBaseOutStructure* s) {
        if (s->sType == VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT) m.imported = true;
    });
    {
        const std::lock_guard lock(mutex);
        if (const VkResult room = charge(info, m); room != VK_SUCCESS) return room;
    }
    if (!fake().types.empty()) info.memoryTypeIndex = 0;  // lavapipe has only one type
    if (fake().fold != 0 && info.allocationSize > fake().fold)
        info.allocationSize = fake().fold + (1u << 20);  // room for the driver's alignment
    m.real_bytes = info.allocationSize;
    const VkResult result = real<Id::vkAllocateMemory>()(device, &info, allocator, out);
    const std::lock_guard lock(mutex);
    if (result != VK_SUCCESS) {
        if (!fake().types.empty() && !m.imported) heap_use[m.heap] -= m.bytes;
        return result;
    }
    if (!m.imported) State::get().add_bytes(static_cast<std::int64_t>(m.bytes));
    memories[*out] = std::move(m);
    return result;
}

void act(Tag<Id::vkFreeMemory>, VkDevice device, VkDeviceMemory memory,
         const VkAllocationCallbacks* allocator) {
    {
        const std::lock_guard lock(mutex);
        const auto it = memories.find(memory);
        if (it != memories.end()) {
            if (!it->second.imported) {
                State::get().add_bytes(-static_cast<std::int64_t>(it->second.bytes));
                if (!fake().types.empty()) heap_use[it->second.heap] -= it->second.bytes;
            }
            memories.erase(it);
        }
    }
    real<Id::vkFreeMemory>()(device, memory, allocator);
}

VkResult act(Tag<Id::vkMapMemory>, VkDevice device, VkDeviceMemory memory, VkDeviceSize offset,
             VkDeviceSize bytes, VkMemoryMapFlags flags, void** out) {
    const VkResult result = real<Id::vkMapMemory>()(device, memory, offset, bytes, flags, out);
    if (result != VK_SUCCESS) return result;
    const std::lock_guard lock(mutex);
    Memory& m = memories[memory];
    if (!m.visible) State::get().violation("vkMapMemory: this type is not host-visible");
    m.mapped = static_cast<std::byte*>(*out) - offset;
    if (m.coherent) return result;
    m.shadow = std::make_unique<std::byte[]>(m.real_bytes + 4096);
    // Memory that was never invalidated must not contain results.
    std::memset(m.shadow.get(), 0xa5, m.real_bytes + 4096);
    const auto base = reinterpret_cast<std::uintptr_t>(m.shadow.get());
    *out = m.shadow.get() + (4096 - base % 4096) % 4096 + offset;
    return result;
}

namespace {

std::byte* shadow_of(const Memory& m) {
    const auto base = reinterpret_cast<std::uintptr_t>(m.shadow.get());
    return m.shadow.get() + (4096 - base % 4096) % 4096;
}

VkResult move_ranges(std::uint32_t count, const VkMappedMemoryRange* ranges, bool to_device) {
    const std::lock_guard lock(mutex);
    for (std::uint32_t i = 0; i < count; ++i) {
        VkDeviceSize bytes = 0;
        const Memory* m = flushable(ranges[i], bytes, to_device ? "flush" : "invalidation");
        if (m == nullptr) continue;
        std::byte* host = shadow_of(*m) + ranges[i].offset;
        std::byte* device = m->mapped + ranges[i].offset;
        std::memcpy(to_device ? device : host, to_device ? host : device, bytes);
    }
    return VK_SUCCESS;
}

}  // namespace

VkResult act(Tag<Id::vkFlushMappedMemoryRanges>, VkDevice, std::uint32_t count,
             const VkMappedMemoryRange* ranges) {
    return move_ranges(count, ranges, true);
}

VkResult act(Tag<Id::vkInvalidateMappedMemoryRanges>, VkDevice, std::uint32_t count,
             const VkMappedMemoryRange* ranges) {
    return move_ranges(count, ranges, false);
}

}  // namespace weft_fault
