// SPDX-License-Identifier: Apache-2.0
// Interop with CUDA on one GPU: the same memory for both, and an order between weft's streams and CUDA's
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

/// The CUDA device that a Backend's GPU is, and the order between the two. Works in CUDA's primary context of
/// that device, which it keeps alive; the caller's current device stays what it was. Cheap to copy; may be
/// used from many threads. The last copy, once the last SharedBuffer made with it is gone too, waits until
/// the CUDA device is idle.
class Device {
  public:
    /// Finds the device by UUID. Errors: no_device - no NVIDIA driver, or no CUDA device with the backend's
    /// UUID (the text names both sides'); unsupported - the Vulkan device cannot share, or was adopted from
    /// an application that made it without VK_KHR_external_memory_fd or VK_KHR_external_semaphore_fd.
    explicit Device(Backend& backend);

    /// As cudaSetDevice takes it.
    int ordinal() const;
    const DeviceInfo& info() const;

    // All four take streams of this device that are not being captured, null for its default stream, and
    // return immediately. Errors: invalid_argument - a captured stream; driver; device_lost.

    /// What `stream` is given from now on runs after `event`, of whichever weft stream of the backend.
    /// Errors: invalid_argument - an event of another backend.
    void wait_for(StreamHandle stream, const Event& event) const;
    /// The same after everything that weft has submitted so far: streams, batches, copies.
    void wait_for_all(StreamHandle stream) const;
    /// Reached when all that `stream` has been given so far is done. Stream::wait_for takes it, which is how
    /// weft waits for CUDA.
    Event event(StreamHandle stream) const;
    /// All that weft submits from now on, on any of its queues, runs after what `stream` has been given so
    /// far: for batches and jobs, which have no wait_for.
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

/// `count` elements of T that weft sees as a Buffer and CUDA as device memory, without a copy. Nothing orders
/// their work but Device::wait_for and Device::event. Move-only; refuses use once moved from.
///
/// Destroying it unmaps the memory from CUDA, which waits for work that CUDA was given; weft's work keeps
/// what it uses.
template <class T>
requires std::is_trivially_copyable_v<T>
class SharedBuffer {
  public:
    /// Memory of weft's, an allocation of its own, contents undefined. Errors: as Buffer; driver.
    SharedBuffer(const Device& device, std::size_t count, std::string_view name = {})
        : SharedBuffer(detail::allocate_shared(device, count, sizeof(T), name), count) {}
    /// Memory of CUDA's, for weft to use too; both keep it alive. It must come from cuMemCreate with
    /// CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, and lie in one such allocation.
    /// Errors: unsupported - other memory (cudaMalloc's cannot be shared); invalid_argument - not device
    /// memory of this device, a range beyond its allocation, or an address that Vulkan's alignment forbids.
    SharedBuffer(const Device& device, DeviceSpan<T> memory, std::string_view name = {})
        : SharedBuffer(detail::import_shared(device, memory.data(), memory.bytes(), name), memory.size()) {}
    SharedBuffer(SharedBuffer&&) noexcept = default;
    SharedBuffer& operator=(SharedBuffer&&) noexcept = default;

    std::size_t size() const noexcept { return memory_ ? buffer_.size() : 0; }
    std::size_t bytes() const noexcept { return size() * sizeof(T); }
    /// As weft sees it, for streams and kernels.
    const Buffer<T>& buffer() const {
        require_memory();
        return buffer_;
    }
    BufferView<T> view() const { return buffer().view(); }
    BufferView<T> view(std::size_t first, std::size_t count) const { return buffer().view(first, count); }
    /// As CUDA sees it; valid while this object lives.
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
/// descriptor (cuMemExportToShareableHandle, or another process's), as a weft Buffer. On success the
/// descriptor is weft's; on failure it stays the caller's. `allocation_bytes`: as it was allocated.
/// Errors: invalid_argument - a range or alignment that does not fit, no descriptor; driver.
template <class T>
Buffer<T> import_fd(const Device& device, int fd, std::size_t allocation_bytes, std::size_t first_byte,
                    std::size_t count, std::string_view name = {}) {
    return weft::detail::Access::make<Buffer<T>>(
        detail::import_fd(device, fd, allocation_bytes, first_byte, count, sizeof(T), name), count);
}

}  // namespace weft::cuda
