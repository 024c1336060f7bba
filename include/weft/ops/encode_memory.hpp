// SPDX-License-Identifier: Apache-2.0
// What encoders read and write: views and spans of the types they take, made from whatever holds them.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <ranges>
#include <type_traits>

#include <weft/buffer.hpp>
#include <weft/array.hpp>

namespace weft {

enum class ValueType { float32, float64, int64 };  ///< int64 for basis alone
enum class StateType { complex64, complex128 };
const char* to_string(ValueType type) noexcept;
const char* to_string(StateType type) noexcept;

struct EncodeTypes {
    ValueType values = ValueType::float64;
    StateType states = StateType::complex64;
};

template <class T>
concept EncodeValue = std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::int64_t>;
template <class T>
concept EncodeAmplitude = std::same_as<T, c32> || std::same_as<T, c64>;

template <EncodeValue T>
inline constexpr ValueType kValueType = std::same_as<T, float>    ? ValueType::float32
                                        : std::same_as<T, double> ? ValueType::float64
                                                                  : ValueType::int64;
template <EncodeAmplitude T>
inline constexpr StateType kStateType = std::same_as<T, c32> ? StateType::complex64 : StateType::complex128;

/// Resident values: a view or a buffer of float, double or std::int64_t.
struct EncodeValues {
    template <class T>
    requires EncodeValue<std::remove_const_t<T>> EncodeValues(
        const BufferView<T>& view)
        : object(detail::Access::object(view)),
          first(view.first()),
          count(view.size()),
          type(kValueType<std::remove_const_t<T>>) {}
    template <EncodeValue T>
    EncodeValues(const Buffer<T>& buffer)
        : EncodeValues(buffer.view()) {}
    template <EncodeValue T>
    EncodeValues(const HostBuffer<T>& buffer)
        : EncodeValues(buffer.view()) {}

    std::shared_ptr<core::BufferObject> object;
    std::uint64_t first, count;  ///< in values
    ValueType type;
};

/// Resident states: a view or a buffer of c32 or c64.
struct EncodeStates {
    template <EncodeAmplitude T>
    EncodeStates(const BufferView<T>& view)
        : object(detail::Access::object(view)), first(view.first()), count(view.size()), type(kStateType<T>) {}
    template <EncodeAmplitude T>
    EncodeStates(const Buffer<T>& buffer)
        : EncodeStates(buffer.view()) {}
    template <EncodeAmplitude T>
    EncodeStates(const HostBuffer<T>& buffer)
        : EncodeStates(buffer.view()) {}

    std::shared_ptr<core::BufferObject> object;
    std::uint64_t first, count;  ///< in amplitudes
    StateType type;
};

/// Values in host memory: any contiguous range of float, double or std::int64_t.
struct EncodeSource {
    EncodeSource(const void* pointer, std::uint64_t value_count, ValueType value_type)
        : data(pointer), count(value_count), type(value_type) {}
    template <std::ranges::contiguous_range R>
    requires EncodeValue<std::ranges::range_value_t<R>> EncodeSource(
        const R& range)
        : data(std::ranges::data(range)),
          count(std::ranges::size(range)),
          type(kValueType<std::ranges::range_value_t<R>>) {}

    const void* data;
    std::uint64_t count;  ///< in values
    ValueType type;
};

/// States in host memory: any contiguous range of c32 or c64.
struct EncodeTarget {
    EncodeTarget(void* pointer, std::uint64_t amplitude_count, StateType state_type)
        : data(pointer), count(amplitude_count), type(state_type) {}
    template <std::ranges::contiguous_range R>
    requires(EncodeAmplitude<std::ranges::range_value_t<R>> &&
             !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>)
        EncodeTarget(R&& range)
        : data(std::ranges::data(range)),
          count(std::ranges::size(range)),
          type(kStateType<std::ranges::range_value_t<R>>) {}

    void* data;
    std::uint64_t count;  ///< in amplitudes
    StateType type;
};

}  // namespace weft
