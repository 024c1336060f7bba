// SPDX-License-Identifier: Apache-2.0
// Device memory, and typed ranges of it.
//
// Example:
//     weft::Backend backend;
//     weft::Buffer<float> weights(backend, 1024, "weights");
//     const weft::BufferView<float> tail = weights.view(1000, 24);
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include <weft/backend.hpp>
#include <weft/error.hpp>

namespace weft {

namespace core {
class BufferObject;
}  // namespace core
class Stream;

namespace detail {
std::shared_ptr<core::BufferObject> make_device_buffer(Backend&, std::size_t count, std::size_t element_bytes,
                                                       std::string_view name);
std::shared_ptr<core::BufferObject> make_device_buffer(const Stream&, std::size_t count,
                                                       std::size_t element_bytes, std::string_view name);
const PlanReport& plan_report(const Stream&);
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

}  // namespace weft
