// SPDX-License-Identifier: Apache-2.0
// Interop with CUDA on one GPU: memory that both use, and an order between the streams of weft and of CUDA
// without the host. Target weft::cuda.
//
// Example:
//     weft::Backend backend;
//     const weft::cuda::Device device(backend);
//     const weft::cuda::SharedBuffer<float> shared(device, 1024);  // buffer() for weft, span() for CUDA
//     device.wait_for(nullptr, weft::Stream(backend).submit());
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <weft/backend.hpp>
#include <weft/buffer.hpp>
#include <weft/cuda/device.hpp>
#include <weft/error.hpp>
#include <weft/stream.hpp>

namespace weft::cuda {

namespace detail {
class DeviceState;
class SharedMemory;
}  // namespace detail

/// The CUDA device of the same GPU as a Backend, and the order between the two. It works in the primary
/// context of that device, which it keeps alive, and does not change the current device of the caller. Cheap
/// to copy; may be used from many threads. When the last copy and the last SharedBuffer made with it are
/// destroyed, it waits until the CUDA device is idle.
class Device {
  public:
    /// Finds the device by UUID. Errors: no_device - no NVIDIA driver, or no CUDA device with the backend's
    /// UUID (the text names both sides'); unsupported - the Vulkan device cannot share, or was adopted from
    /// an application that made it without VK_KHR_external_memory_fd or VK_KHR_external_semaphore_fd.
    explicit Device(Backend& backend);

    /// As cudaSetDevice takes it.
    int ordinal() const;
    const DeviceInfo& info() const;

    // All four functions take streams of this device that are not being captured, null for its default
    // stream, and return immediately. Errors: invalid_argument - a captured stream; driver; device_lost.

    /// Work that `stream` is given from now on runs after `event`, which may be of any weft stream of the
    /// backend. Errors: invalid_argument - an event of another backend.
    void wait_for(StreamHandle stream, const Event& event) const;
    /// The same after everything that weft has submitted so far.
    void wait_for_all(StreamHandle stream) const;
    /// An event that is reached when all work that `stream` has been given so far is done. Pass it to
    /// Stream::wait_for to make weft wait for CUDA.
    Event event(StreamHandle stream) const;
    /// All work that weft submits from now on, on any of its queues, runs after what `stream` has been given
    /// so far. Use it for batches and jobs, which have no wait_for.
    void hold_weft(StreamHandle stream) const;

  private:
    friend struct weft::detail::Access;
    const std::shared_ptr<detail::DeviceState>& state() const;

    std::shared_ptr<detail::DeviceState> state_;
};

namespace detail {

std::shared_ptr<SharedMemory> allocate_shared(const Device&, std::size_t count, std::size_t element_bytes,
                                              std::string_view name);
std::shared_ptr<SharedMemory> import_shared(const Device&, const void* pointer, std::size_t bytes,
                                            std::string_view name);
std::shared_ptr<core::BufferObject> import_fd(const Device&, int fd, std::size_t allocation_bytes,
                                              std::size_t first_byte, std::size_t count,
                                              std::size_t element_bytes, std::string_view name);
void* pointer_of(const SharedMemory&) noexcept;
const std::shared_ptr<core::BufferObject>& object_of(const SharedMemory&) noexcept;

}  // namespace detail

/// `count` elements of T that are a Buffer for weft and device memory for CUDA, without a copy. Only
/// Device::wait_for and Device::event order their work. Move-only; refuses use once moved from.
///
/// Destroying it unmaps the memory from CUDA, which waits for the work that CUDA has been given. Pending work
/// of weft keeps the memory that it uses.
template <class T>
requires std::is_trivially_copyable_v<T>
class SharedBuffer {
  public:
    /// An allocation of weft, contents undefined. Errors: as Buffer; driver.
    SharedBuffer(const Device& device, std::size_t count, std::string_view name = {})
        : SharedBuffer(detail::allocate_shared(device, count, sizeof(T), name), count) {}
    /// Memory that CUDA allocated, which both keep alive. It must come from cuMemCreate with
    /// CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, and lie in one such allocation.
    /// Errors: unsupported - other memory (that of cudaMalloc cannot be shared); invalid_argument - not
    /// device memory of this device, a range beyond its allocation, or an address that Vulkan's alignment
    /// forbids.
    SharedBuffer(const Device& device, DeviceSpan<T> memory, std::string_view name = {})
        : SharedBuffer(detail::import_shared(device, memory.data(), memory.bytes(), name), memory.size()) {}
    SharedBuffer(SharedBuffer&&) noexcept = default;
    SharedBuffer& operator=(SharedBuffer&&) noexcept = default;

    std::size_t size() const noexcept { return memory_ ? buffer_.size() : 0; }
    std::size_t bytes() const noexcept { return size() * sizeof(T); }
    /// The memory for streams and ops of weft.
    const Buffer<T>& buffer() const {
        require_memory();
        return buffer_;
    }
    BufferView<T> view() const { return buffer().view(); }
    BufferView<T> view(std::size_t first, std::size_t count) const { return buffer().view(first, count); }
    /// The memory for CUDA, valid during the lifetime of this object.
    DeviceSpan<T> span() const {
        require_memory();
        return {static_cast<T*>(detail::pointer_of(*memory_)), buffer_.size()};
    }
    DeviceSpan<T> span(std::size_t first, std::size_t count) const { return span().subspan(first, count); }

  private:
    friend struct weft::detail::Access;
    const std::shared_ptr<detail::SharedMemory>& memory() const {
        require_memory();
        return memory_;
    }
    SharedBuffer(std::shared_ptr<detail::SharedMemory> memory, std::size_t count)
        : memory_(std::move(memory)),
          buffer_(weft::detail::Access::make<Buffer<T>>(detail::object_of(*memory_), count)) {}
    void require_memory() const {
        if (!memory_) throw Error(Errc::invalid_argument, "SharedBuffer: used after it was moved from");
    }

    std::shared_ptr<detail::SharedMemory> memory_;
    Buffer<T> buffer_;  // goes first
};

/// `count` elements at `first_byte` of another allocation in device memory of this GPU, given as a POSIX file
/// descriptor (of cuMemExportToShareableHandle, or of another process), as a weft Buffer. On success weft
/// owns the descriptor; on failure the caller keeps it. `allocation_bytes`: the size of the whole allocation.
/// Errors: invalid_argument - a range or alignment that does not fit, no descriptor; driver.
template <class T>
Buffer<T> import_fd(const Device& device, int fd, std::size_t allocation_bytes, std::size_t first_byte,
                    std::size_t count, std::string_view name = {}) {
    return weft::detail::Access::make<Buffer<T>>(
        detail::import_fd(device, fd, allocation_bytes, first_byte, count, sizeof(T), name), count);
}

}  // namespace weft::cuda
