// SPDX-License-Identifier: Apache-2.0
// A VkBuffer with its memory, and the registry that finds page-locked memory behind a user's pointer.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "plan/work/host_range.hpp"
#include "vulkan/memory/memory_pool.hpp"

namespace weft::core {

class Context;
class ExportSource;

/// What a buffer of `bytes` takes. Errors: invalid_argument - larger than the device's buffers can be.
std::uint64_t padded_bytes(const Device& device, std::uint64_t bytes, const std::string& name);

/// Owned by everything that may still use it: the user's Buffer, and every submitted chunk until it is done.
/// So freeing never waits and never happens too early.
class BufferObject {
  public:
    /// Errors: out_of_memory; invalid_argument - larger than the device's buffers can be.
    static std::shared_ptr<BufferObject> create(const std::shared_ptr<Context>& context, MemoryKind kind,
                                                std::uint64_t bytes, std::string name);
    /// The pages that hold [pointer, pointer + bytes), imported. Errors: unsupported, out_of_memory.
    static std::shared_ptr<BufferObject> import(const std::shared_ptr<Context>& context, const void* pointer,
                                                std::uint64_t bytes);
    /// Device memory that can be exported as a file descriptor. Errors: as create().
    static std::shared_ptr<BufferObject> create_exportable(const std::shared_ptr<Context>& context,
                                                           std::uint64_t bytes, std::string name);
    /// `bytes` of another API's allocation of `allocation_bytes`, from `first` on. Takes `fd` over if it
    /// succeeds. Errors: invalid_argument, out_of_memory, driver.
    static std::shared_ptr<BufferObject> import_fd(const std::shared_ptr<Context>& context, int fd,
                                                   std::uint64_t allocation_bytes, std::uint64_t first,
                                                   std::uint64_t bytes, std::string name);
    ~BufferObject();
    BufferObject(const BufferObject&) = delete;
    BufferObject& operator=(const BufferObject&) = delete;

    VkBuffer handle() const { return handle_; }
    std::uint64_t bytes() const { return bytes_; }
    /// Never used twice, unlike a VkBuffer handle, so that commands recorded for one buffer are never used
    /// for another.
    std::uint64_t id() const { return id_; }
    std::byte* mapped() const { return mapped_; }
    /// false: host writes need flush(), host reads invalidate().
    bool coherent() const { return coherent_; }
    /// Who allocated the memory: "vulkan", "cuda", or "import".
    const char* memory_source() const { return memory_source_; }
    /// true: host memory; false: device memory, which the host may reach as well.
    bool host_memory() const { return host_memory_; }
    bool imported() const { return imported_ != VK_NULL_HANDLE; }
    /// The allocation behind create_exportable(); null for other buffers.
    VkDeviceMemory exportable() const { return export_source_ ? range_.memory : VK_NULL_HANDLE; }
    std::uint64_t allocation_bytes() const { return range_.block_bytes; }
    const std::shared_ptr<Context>& context() const { return context_; }

    /// Makes host writes to the range visible to the device, or device writes to the host; nothing for
    /// coherent memory.
    void flush(std::uint64_t offset, std::uint64_t bytes) const;
    void invalidate(std::uint64_t offset, std::uint64_t bytes) const;

  private:
    BufferObject(std::shared_ptr<Context> context, std::uint64_t bytes, std::string name);
    void make_buffer(VkExternalMemoryHandleTypeFlags handle_types);
    void place_in_first(MemoryKind kind);  // where buffers of the kind belong, else where the driver has room
    void place_in(BlockSource& source);
    void bind_imported(const void* base);
    void bind_foreign(int fd, std::uint64_t allocation_bytes, std::uint64_t first);
    void count();
    VkMappedMemoryRange mapped_range(std::uint64_t offset, std::uint64_t bytes) const;

    std::shared_ptr<Context> context_;
    std::uint64_t bytes_, id_;
    std::string name_;
    VkBuffer handle_ = VK_NULL_HANDLE;
    MemoryRange range_;
    std::unique_ptr<ExportSource> export_source_;  // of range_
    VkDeviceMemory imported_ = VK_NULL_HANDLE;
    std::byte* mapped_ = nullptr;
    const char* memory_source_ = "import";
    bool coherent_ = true, counted_ = false, host_memory_ = false;
};

/// At level info, for callers that copy pages which the driver does not take, for example those of a file.
void log_refused_import(const Context& context, const Error& refusal);

/// Finds the buffer behind a host pointer. HostBuffers and imports are added and removed automatically.
class HostRanges {
  public:
    /// The page-locked memory at `pointer` and how far it reaches; empty: the memory is ordinary.
    HostRange find(const void* pointer) const;
    void insert(const std::shared_ptr<BufferObject>& buffer);
    void erase(const BufferObject& buffer) noexcept;

  private:
    struct Entry {
        std::uintptr_t end;
        std::uint64_t id;
        std::weak_ptr<BufferObject> buffer;
    };
    mutable std::shared_mutex mutex_;
    std::map<std::uintptr_t, Entry> by_begin_;
};

/// Keeps imports of ordinary memory; the least recently used one is dropped first. Only for devices that read
/// through the page tables of the process (TransferPlan::keep_imports): on others an import pins pages, and
/// memory mapped later at the same address would have other pages.
class ImportRegistry {
  public:
    /// Empty range when the pages cannot be imported.
    HostRange find_or_import(const std::shared_ptr<Context>& context, const void* pointer,
                             std::uint64_t bytes);
    void clear() noexcept;

  private:
    static constexpr std::size_t kCapacity = 128;
    std::mutex mutex_;
    std::list<std::shared_ptr<BufferObject>> recent_;  // front: most recent
};

}  // namespace weft::core
