// SPDX-License-Identifier: Apache-2.0
// The CUDA devices of this machine, and the arguments of calls on them: streams, and ranges of CUDA device
// memory. Target weft::cuda.
//
// Example:
//     for (const weft::cuda::DeviceInfo& device : weft::cuda::list_devices())
//         std::printf("%d: %s\n", device.ordinal, device.name.c_str());
//     const weft::cuda::DeviceArray none{};
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <weft/array.hpp>
#include <weft/error.hpp>

struct CUstream_st;  // of CUDA, whose headers are not needed here

namespace weft::cuda {

struct DeviceInfo {
    int ordinal = 0;  ///< as cudaSetDevice takes it
    std::string name;
    std::string uuid;  ///< 32 hexadecimal digits, as weft::DeviceInfo::uuid of the same GPU under Vulkan
    int compute_major = 0, compute_minor = 0;
};

/// Every device that the CUDA driver reports, in its order.
/// Errors: no_device - no NVIDIA driver, one too old for this build, or no device; the text says which.
std::vector<DeviceInfo> list_devices();

/// The first device that `setting` names. As in Config::device, it is an index (here the ordinal), the first
/// four or more digits of a UUID, or a part of a name; or a list of these with commas between; or "all";
/// empty: the first device. The current device is not changed. Errors: invalid_argument - a name is empty or
/// matches no device, and the text lists the devices; as list_devices.
DeviceInfo find_device(const std::string& setting);

/// A cudaStream_t or CUstream; null is CUDA's default stream. Owned by its creator.
using StreamHandle = ::CUstream_st*;

/// `size` elements of T in memory that a CUDA device reads and writes. Does not own them.
template <class T>
class DeviceSpan {
  public:
    constexpr DeviceSpan() noexcept = default;
    constexpr DeviceSpan(T* data, std::size_t size) noexcept : data_(data), size_(size) {}
    template <class U>
    requires std::is_same_v<T, const U>
    constexpr DeviceSpan(DeviceSpan<U> other) noexcept : data_(other.data()), size_(other.size()) {}

    constexpr T* data() const noexcept { return data_; }
    constexpr std::size_t size() const noexcept { return size_; }
    constexpr std::size_t bytes() const noexcept { return size_ * sizeof(T); }
    constexpr bool empty() const noexcept { return size_ == 0; }
    /// Elements [first, first + count). Errors: invalid_argument - beyond the end.
    DeviceSpan subspan(std::size_t first, std::size_t count) const {
        if (first > size_ || count > size_ - first)
            throw Error(Errc::invalid_argument, "DeviceSpan::subspan: range beyond the end (got first " +
                                                    std::to_string(first) + " count " +
                                                    std::to_string(count) + ", need at most " +
                                                    std::to_string(size_) + ")");
        return {data_ + first, count};
    }

  private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

/// A range of CUDA device memory, of a type that is known at run time. Does not own the memory, which must
/// stay valid until the work on it is done.
struct ConstDeviceArray {
    ConstDeviceArray() = default;  ///< empty
    ConstDeviceArray(const void* pointer, std::uint64_t elements, ElementType element)
        : data(pointer), size(elements), type(element) {}
    template <class T>
    requires ArrayElement<std::remove_const_t<T>> ConstDeviceArray(DeviceSpan<T> span)
        : data(span.data()), size(span.size()), type(element_type<std::remove_const_t<T>>()) {}

    std::uint64_t bytes() const noexcept { return size * type.bytes(); }
    bool empty() const noexcept { return size == 0; }

    const void* data = nullptr;
    std::uint64_t size = 0;  ///< in elements
    ElementType type{};
};

/// The same to write to.
struct DeviceArray {
    DeviceArray() = default;  ///< empty
    DeviceArray(void* pointer, std::uint64_t elements, ElementType element)
        : data(pointer), size(elements), type(element) {}
    template <ArrayElement T>
    requires(!std::is_const_v<T>) DeviceArray(DeviceSpan<T> span)
        : data(span.data()), size(span.size()), type(element_type<T>()) {}
    operator ConstDeviceArray() const noexcept { return {data, size, type}; }

    std::uint64_t bytes() const noexcept { return size * type.bytes(); }
    bool empty() const noexcept { return size == 0; }

    void* data = nullptr;
    std::uint64_t size = 0;  ///< in elements
    ElementType type{};
};

}  // namespace weft::cuda

namespace weft {

template <>
struct ArraysOf<cuda::StreamHandle> {
    using In = cuda::ConstDeviceArray;
    using Out = cuda::DeviceArray;
    static constexpr bool host = false;
};
/// Also for an owner of a stream, or nullptr, in place of the stream.
template <class Where>
requires std::convertible_to<Where&, cuda::StreamHandle>
struct ArraysOf<Where> : ArraysOf<cuda::StreamHandle> {
};

}  // namespace weft
