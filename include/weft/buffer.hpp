// SPDX-License-Identifier: Apache-2.0
// Memory: Buffer (device), HostBuffer (page-locked), HostRegistration (the user's own pages), and a report of
// all memory.
//
// Example:
//     weft::Backend backend;
//     weft::Buffer<float> device(backend, 1024, "weights");
//     weft::HostBuffer<float> locked(backend, 1024);  // jobs whose spans lie in it skip a copy
//     locked[0] = 1.0f;
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/backend.hpp>
#include <weft/error.hpp>

namespace weft {

namespace core {
class BufferObject;
}  // namespace core
class Stream;

/// Device or page-locked memory, counted from the objects that hold it.
struct MemoryReport {
    struct Named {
        std::string name;
        std::uint64_t live_bytes = 0, peak_bytes = 0, live_count = 0;
    };
    struct Heap {
        /// Bytes; budget and usage as the driver reports them, else 0.
        std::uint64_t size = 0, budget = 0, usage = 0;
        bool device_local = false;
        std::uint64_t kept =
            0;  ///< part of usage: large blocks that weft keeps for the next buffer of their size
    };
    std::uint64_t live_bytes = 0;  ///< in use by buffers
    std::uint64_t peak_bytes = 0;  ///< highest live_bytes so far
    std::uint64_t live_buffers = 0;
    std::uint64_t block_bytes = 0;  ///< taken from the driver
    std::uint64_t blocks = 0;       ///< allocations that make up block_bytes
    std::uint64_t limit = 0;        ///< Config::memory_limit, the most that block_bytes may be; 0: none
    /// 1 - largest free range / free bytes over all blocks; 0 if nothing is free.
    double fragmentation = 0;
    std::vector<Named> names;  ///< sorted by name; buffers without one are under "buffer" or "host buffer"
    std::vector<Heap> heaps;
};

namespace detail {
std::shared_ptr<core::BufferObject> make_device_buffer(Backend&, std::size_t count, std::size_t element_bytes,
                                                       std::string_view name);
std::shared_ptr<core::BufferObject> make_device_buffer(const Stream&, std::size_t count,
                                                       std::size_t element_bytes, std::string_view name);
using BufferObjects = std::vector<std::shared_ptr<core::BufferObject>>;
/// The first device that is not lost.
Backend& first_of(Devices& devices);
/// Imports page-locked memory of the first device into the others that can.
BufferObjects import_into_others(Devices& devices, const core::BufferObject& memory);
std::shared_ptr<core::BufferObject> make_host_buffer(Backend&, std::size_t count, std::size_t element_bytes,
                                                     std::string_view name);
MemoryReport memory_report(const Stream&);
const PlanReport& plan_report(const Stream&);
void* mapped(const core::BufferObject&) noexcept;
void check_view(const char* what, std::size_t first, std::size_t count, std::size_t size);
}  // namespace detail

/// A typed range of a Buffer or HostBuffer; keeps the memory alive.
template <class T>
class BufferView {
  public:
    /// A writable view is a readable one.
    template <class U>
    requires std::is_same_v<T, const U> BufferView(const BufferView<U>& other)
        : object_(detail::Access::object(other)), first_(other.first()), count_(other.size()) {}

    std::size_t size() const noexcept { return count_; }
    std::size_t bytes() const noexcept { return count_ * sizeof(T); }
    std::size_t first() const noexcept { return first_; }  ///< elements from the start of the buffer

  private:
    friend struct detail::Access;
    BufferView(std::shared_ptr<core::BufferObject> object, std::size_t first, std::size_t count)
        : object_(std::move(object)), first_(first), count_(count) {}
    const std::shared_ptr<core::BufferObject>& object() const noexcept { return object_; }

    std::shared_ptr<core::BufferObject> object_;
    std::size_t first_, count_;
};

/// `count` elements of T in device memory, contents undefined. Move-only. Destroying it never waits: memory
/// still used by submitted work is given back when that work is done.
template <class T>
requires std::is_trivially_copyable_v<T>
class Buffer {
  public:
    /// Errors: out_of_memory; invalid_argument - more bytes than the device allows in one buffer.
    Buffer(Backend& backend, std::size_t count, std::string_view name = {})
        : object_(detail::make_device_buffer(backend, count, sizeof(T), name)), count_(count) {}
    /// The same on the device that `stream` records for.
    Buffer(const Stream& stream, std::size_t count, std::string_view name = {})
        : object_(detail::make_device_buffer(stream, count, sizeof(T), name)), count_(count) {}
    Buffer(Buffer&&) noexcept = default;
    Buffer& operator=(Buffer&&) noexcept = default;

    std::size_t size() const noexcept { return object_ ? count_ : 0; }
    std::size_t bytes() const noexcept { return size() * sizeof(T); }
    BufferView<T> view() const {
        return detail::Access::make<BufferView<T>>(object_, std::size_t{0}, count_);
    }
    /// Elements [first, first + count). Errors: invalid_argument - beyond the end.
    BufferView<T> view(std::size_t first, std::size_t count) const {
        detail::check_view("Buffer::view", first, count, count_);
        return detail::Access::make<BufferView<T>>(object_, first, count);
    }
    operator BufferView<T>() const { return view(); }
    operator BufferView<const T>() const { return view(); }

  private:
    friend struct detail::Access;
    Buffer(std::shared_ptr<core::BufferObject> object, std::size_t count)
        : object_(std::move(object)), count_(count) {}

    std::shared_ptr<core::BufferObject> object_;
    std::size_t count_;
};

/// `count` elements of T in page-locked host memory that the device reaches without a staging copy; contents
/// undefined. Cached, so the host may read and write it freely. Move-only. Jobs whose spans lie in a
/// HostBuffer skip the copy.
template <class T>
requires std::is_trivially_copyable_v<T>
class HostBuffer {
  public:
    /// Errors: out_of_memory; invalid_argument - more bytes than the device allows in one buffer.
    HostBuffer(Backend& backend, std::size_t count, std::string_view name = {})
        : object_(detail::make_host_buffer(backend, count, sizeof(T), name)), count_(count) {}
    /// Memory of the first device that all devices reach. A device that cannot import it copies; a log line
    /// says so.
    HostBuffer(Devices& devices, std::size_t count, std::string_view name = {})
        : object_(detail::make_host_buffer(detail::first_of(devices), count, sizeof(T), name)),
          imports_(detail::import_into_others(devices, *object_)),
          count_(count) {}
    HostBuffer(HostBuffer&&) noexcept = default;
    HostBuffer& operator=(HostBuffer&& other) noexcept {
        imports_ = std::move(other.imports_);  // first, so that imports end before their memory does
        object_ = std::move(other.object_);
        count_ = other.count_;
        return *this;
    }

    T* data() const noexcept { return object_ ? static_cast<T*>(detail::mapped(*object_)) : nullptr; }
    std::size_t size() const noexcept { return object_ ? count_ : 0; }
    std::size_t bytes() const noexcept { return size() * sizeof(T); }
    std::span<T> span() const noexcept { return {data(), size()}; }
    T* begin() const noexcept { return data(); }
    T* end() const noexcept { return data() + size(); }
    T& operator[](std::size_t i) const noexcept { return data()[i]; }

    /// For the steps of a Stream, which use this memory when they run: change or read it only after they are
    /// done.
    BufferView<T> view() const {
        return detail::Access::make<BufferView<T>>(object_, std::size_t{0}, count_);
    }
    /// Elements [first, first + count). Errors: invalid_argument - beyond the end.
    BufferView<T> view(std::size_t first, std::size_t count) const {
        detail::check_view("HostBuffer::view", first, count, count_);
        return detail::Access::make<BufferView<T>>(object_, first, count);
    }

  private:
    std::shared_ptr<core::BufferObject> object_;
    detail::BufferObjects imports_;  // on other devices; freed before the memory
    std::size_t count_;
};

/// Page-locks memory of the user as long as this object lives, so that jobs whose spans lie inside skip the
/// staging copy. The memory must stay mapped at least that long. Costs about as much as copying the range
/// once.
class HostRegistration {
  public:
    /// Errors: unsupported - the device or these pages cannot be imported; invalid_argument - empty range;
    /// out_of_memory.
    HostRegistration(Backend& backend, std::span<std::byte> range);
    /// For every device that is not lost. Errors: of any of them.
    HostRegistration(Devices& devices, std::span<std::byte> range);
    HostRegistration(HostRegistration&&) noexcept = default;
    HostRegistration& operator=(HostRegistration&&) noexcept = default;

  private:
    detail::BufferObjects objects_;  // one a device
};

}  // namespace weft
