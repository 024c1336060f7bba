// SPDX-License-Identifier: Apache-2.0
// Page-locked host memory: HostBuffer, and HostRegistration for the user's own pages.
//
// Example:
//     weft::Backend backend;
//     weft::HostBuffer<float> locked(backend, 1024);  // jobs whose spans lie in it skip a copy
//     locked[0] = 1.0f;
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/buffer.hpp>

namespace weft {

namespace detail {
using BufferObjects = std::vector<std::shared_ptr<core::BufferObject>>;
/// The first device that is not lost.
Backend& first_of(Devices& devices);
/// Imports page-locked memory of the first device into the others that can.
BufferObjects import_into_others(Devices& devices, const core::BufferObject& memory);
std::shared_ptr<core::BufferObject> make_host_buffer(Backend&, std::size_t count, std::size_t element_bytes,
                                                     std::string_view name);
void* mapped(const core::BufferObject&) noexcept;
}  // namespace detail

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
