// SPDX-License-Identifier: Apache-2.0
// Arrays of a type that is known at run time: what every op reads and writes, on the device and in host
// memory.
//
// Example:
//     std::vector<float> x(1024);
//     weft::HostArray host{x};                         // 1024 elements of kFloat32, still owned by x
//     weft::ConstHostArray input = host;               // a writable array is a readable one
#pragma once

#include <complex>
#include <concepts>
#include <cstdint>
#include <memory>
#include <ranges>
#include <string>
#include <type_traits>

#include <weft/buffer.hpp>
#include <weft/host_buffer.hpp>

namespace weft {

using c32 = std::complex<float>;   ///< complex64: two float32, real part first
using c64 = std::complex<double>;  ///< complex128

enum class ElementKind { signed_integer, unsigned_integer, floating, complex };

struct ElementType {
    ElementKind kind = ElementKind::floating;
    /// Bits of one element, for a complex one of both parts together: 8, 16, 32, 64 or 128, at least 16 for
    /// complex.
    std::uint32_t bits = 32;

    constexpr std::uint32_t bytes() const noexcept { return bits / 8; }
    bool operator==(const ElementType&) const = default;
};
/// "float32", "complex64", ...; "unknown32" for a kind that is not one of ElementKind.
std::string to_string(ElementType type);

inline constexpr ElementType kUint8{ElementKind::unsigned_integer, 8},
    kUint32{ElementKind::unsigned_integer, 32}, kUint64{ElementKind::unsigned_integer, 64},
    kInt64{ElementKind::signed_integer, 64}, kFloat32{ElementKind::floating, 32},
    kFloat64{ElementKind::floating, 64}, kComplex64{ElementKind::complex, 64},
    kComplex128{ElementKind::complex, 128};

/// Not bool, because bytes from other libraries may hold any number. Use std::uint8_t.
template <class T>
concept ArrayElement = (std::integral<T> && !std::same_as<T, bool>) || std::same_as<T, float> ||
                       std::same_as<T, double> || std::same_as<T, c32> || std::same_as<T, c64>;

template <ArrayElement T>
constexpr ElementType element_type() {
    if constexpr (std::floating_point<T>)
        return {ElementKind::floating, 8 * sizeof(T)};
    else if constexpr (std::signed_integral<T>)
        return {ElementKind::signed_integer, 8 * sizeof(T)};
    else if constexpr (std::unsigned_integral<T>)
        return {ElementKind::unsigned_integer, 8 * sizeof(T)};
    else
        return {ElementKind::complex, 8 * sizeof(T)};
}

/// A contiguous array in host memory; row-major if it has rows. Does not own the memory, which must stay
/// valid during the call that receives the array.
struct ConstHostArray {
    ConstHostArray() = default;  ///< empty
    ConstHostArray(const void* pointer, std::uint64_t elements, ElementType element)
        : data(pointer), size(elements), type(element) {}
    template <std::ranges::contiguous_range R>
    requires ArrayElement<std::ranges::range_value_t<R>> ConstHostArray(const R& range)
        : data(std::ranges::data(range)),
          size(std::ranges::size(range)),
          type(element_type<std::ranges::range_value_t<R>>()) {}

    std::uint64_t bytes() const noexcept { return size * type.bytes(); }
    bool empty() const noexcept { return size == 0; }

    const void* data = nullptr;
    std::uint64_t size = 0;  ///< in elements
    ElementType type{};
};

/// The same for writing.
struct HostArray {
    HostArray() = default;  ///< empty
    HostArray(void* pointer, std::uint64_t elements, ElementType element)
        : data(pointer), size(elements), type(element) {}
    template <std::ranges::contiguous_range R>
    requires(ArrayElement<std::ranges::range_value_t<R>> &&
             !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>)
        HostArray(R&& range)
        : data(std::ranges::data(range)),
          size(std::ranges::size(range)),
          type(element_type<std::ranges::range_value_t<R>>()) {}
    operator ConstHostArray() const noexcept { return {data, size, type}; }

    std::uint64_t bytes() const noexcept { return size * type.bytes(); }
    bool empty() const noexcept { return size == 0; }

    void* data = nullptr;
    std::uint64_t size = 0;  ///< in elements
    ElementType type{};
};

/// A range of a Buffer or HostBuffer, for a Stream to read. Keeps the memory alive.
class ConstDeviceArray {
  public:
    ConstDeviceArray() = default;  ///< empty
    template <class T>
    requires ArrayElement<std::remove_const_t<T>> ConstDeviceArray(const BufferView<T>& view)
        : object_(detail::Access::object(view)),
          first_(view.first()),
          size_(view.size()),
          type_(element_type<std::remove_const_t<T>>()) {}
    template <ArrayElement T>
    ConstDeviceArray(const Buffer<T>& buffer) : ConstDeviceArray(buffer.view()) {}
    template <ArrayElement T>
    ConstDeviceArray(const HostBuffer<T>& buffer) : ConstDeviceArray(buffer.view()) {}

    std::uint64_t first() const noexcept { return first_; }  ///< elements from the start of the buffer
    std::uint64_t size() const noexcept { return size_; }    ///< in elements
    std::uint64_t bytes() const noexcept { return size_ * type_.bytes(); }
    ElementType type() const noexcept { return type_; }
    bool empty() const noexcept { return size_ == 0; }

  private:
    friend struct detail::Access;
    const std::shared_ptr<core::BufferObject>& object() const noexcept { return object_; }

    std::shared_ptr<core::BufferObject> object_;
    std::uint64_t first_ = 0, size_ = 0;
    ElementType type_{};
};

/// The same for writing.
class DeviceArray : public ConstDeviceArray {
  public:
    DeviceArray() = default;  ///< empty
    template <ArrayElement T>
    requires(!std::is_const_v<T>) DeviceArray(const BufferView<T>& view) : ConstDeviceArray(view) {}
    template <ArrayElement T>
    DeviceArray(const Buffer<T>& buffer) : ConstDeviceArray(buffer) {}
    template <ArrayElement T>
    DeviceArray(const HostBuffer<T>& buffer) : ConstDeviceArray(buffer) {}
};

/// The arrays that an op takes on a Backend or a Devices (host memory), on a Stream (device memory), and on a
/// CUDA stream (<weft/cuda/device.hpp>). `host` says whether a call returns an OpReport when the work is
/// done.
template <class Where>
struct ArraysOf;
template <>
struct ArraysOf<Backend> {
    using In = ConstHostArray;
    using Out = HostArray;
    static constexpr bool host = true;
};
template <>
struct ArraysOf<Devices> : ArraysOf<Backend> {};
template <>
struct ArraysOf<Stream> {
    using In = ConstDeviceArray;
    using Out = DeviceArray;
    static constexpr bool host = false;
};

struct KernelMatrixShape;

/// A batch of quantum states, [samples, 2^qubits] row-major. Qubit k is bit k of an amplitude's index.
struct StateShape {
    std::uint64_t samples = 0;
    std::uint32_t qubits = 0;

    /// Amplitudes of one state, and of all (below 2^64).
    std::uint64_t state_size() const noexcept { return std::uint64_t{1} << qubits; }
    std::uint64_t amplitudes() const noexcept { return samples << qubits; }
    /// Of the square kernel matrix of these states; defined in <weft/ops/kernel_matrix.hpp>.
    operator KernelMatrixShape() const;
};

}  // namespace weft
