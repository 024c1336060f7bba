// SPDX-License-Identifier: Apache-2.0
// What kernel matrices read and write: views and spans of the types they take, made from whatever holds them.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <ranges>
#include <type_traits>

#include <weft/buffer.hpp>
#include <weft/ops/encode_memory.hpp>

namespace weft {

template <class T>
concept KernelReal = std::same_as<T, float> || std::same_as<T, double>;

/// A range of a device's memory that holds float or double: features [samples, qubits], or a kernel matrix.
template <bool kWritable>
struct KernelArray {
    template <class T>
    requires KernelReal<std::remove_const_t<T>> &&
        (!kWritable ||
         !std::is_const_v<T>)KernelArray(const BufferView<T>& view)
        : object(detail::Access::object(view)),
          first(view.first()),
          count(view.size()),
          type(kValueType<std::remove_const_t<T>>) {}
    template <KernelReal T>
    KernelArray(const Buffer<T>& buffer)
        : KernelArray(buffer.view()) {}
    template <KernelReal T>
    KernelArray(const HostBuffer<T>& buffer)
        : KernelArray(buffer.view()) {}

    std::shared_ptr<core::BufferObject> object;
    std::uint64_t first, count;  ///< in numbers
    ValueType type;              ///< float32 or float64
};
using KernelFeatures = KernelArray<false>;
using KernelValues = KernelArray<true>;

/// Resident states to be read: a view or a buffer of c32 or c64.
struct KernelStates {
    template <class T>
    requires EncodeAmplitude<std::remove_const_t<T>> KernelStates(
        const BufferView<T>& view)
        : object(detail::Access::object(view)),
          first(view.first()),
          count(view.size()),
          type(kStateType<std::remove_const_t<T>>) {}
    template <EncodeAmplitude T>
    KernelStates(const Buffer<T>& buffer)
        : KernelStates(buffer.view()) {}
    template <EncodeAmplitude T>
    KernelStates(const HostBuffer<T>& buffer)
        : KernelStates(buffer.view()) {}

    std::shared_ptr<core::BufferObject> object;
    std::uint64_t first, count;  ///< in amplitudes
    StateType type;
};

/// Numbers in host memory: any contiguous range of float or double; empty by default.
struct KernelSource {
    KernelSource() = default;
    KernelSource(const void* pointer, std::uint64_t value_count, ValueType value_type)
        : data(pointer), count(value_count), type(value_type) {}
    template <std::ranges::contiguous_range R>
    requires KernelReal<std::ranges::range_value_t<R>> KernelSource(
        const R& range)
        : data(std::ranges::data(range)),
          count(std::ranges::size(range)),
          type(kValueType<std::ranges::range_value_t<R>>) {}

    const void* data = nullptr;
    std::uint64_t count = 0;  ///< in numbers
    ValueType type = ValueType::float64;
};

/// States in host memory: any contiguous range of c32 or c64.
struct KernelStateSource {
    KernelStateSource(const void* pointer, std::uint64_t amplitude_count, StateType state_type)
        : data(pointer), count(amplitude_count), type(state_type) {}
    template <std::ranges::contiguous_range R>
    requires EncodeAmplitude<std::ranges::range_value_t<R>> KernelStateSource(
        const R& range)
        : data(std::ranges::data(range)),
          count(std::ranges::size(range)),
          type(kStateType<std::ranges::range_value_t<R>>) {}

    const void* data;
    std::uint64_t count;  ///< in amplitudes
    StateType type;
};

/// A kernel matrix in host memory: any contiguous range of float or double, a mapped file included.
struct KernelTarget {
    KernelTarget(void* pointer, std::uint64_t value_count, ValueType value_type)
        : data(pointer), count(value_count), type(value_type) {}
    template <std::ranges::contiguous_range R>
    requires(KernelReal<std::ranges::range_value_t<R>> &&
             !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>)
        KernelTarget(R&& range)
        : data(std::ranges::data(range)),
          count(std::ranges::size(range)),
          type(kValueType<std::ranges::range_value_t<R>>) {}

    void* data;
    std::uint64_t count;  ///< in numbers
    ValueType type;
};

}  // namespace weft
