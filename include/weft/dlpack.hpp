// SPDX-License-Identifier: Apache-2.0
// DLPack: arrays that NumPy, PyTorch, CuPy and JAX take and give without a copy. Host memory is here; that of
// a CUDA device in weft/cuda_dlpack.hpp.
#pragma once

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <weft/buffer.hpp>
#include <weft/error.hpp>

struct DLManagedTensor;  // of DLPack, whose header is not needed here

namespace weft {

enum class ElementKind { signed_integer, unsigned_integer, floating, complex };

struct ElementType {
    ElementKind kind = ElementKind::floating;
    std::uint32_t bits = 32;  ///< of one element; of both parts together if complex
    bool operator==(const ElementType&) const = default;
};
/// "float32", "complex64", ...
std::string to_string(ElementType type);

template <class T>
concept TensorElement = std::integral<T> || std::same_as<T, float> || std::same_as<T, double> ||
    std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;

template <TensorElement T>
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

enum class TensorPlace { host, cuda, other };

/// What a DLManagedTensor says, with the offset added to `data`. C order, without gaps.
struct TensorInfo {
    void* data = nullptr;
    TensorPlace place = TensorPlace::host;
    int ordinal = 0;  ///< of the CUDA device; 0 for host memory
    ElementType type{};
    std::vector<std::int64_t> shape{};  ///< empty: one element
    std::size_t elements() const;
    std::size_t bytes() const { return elements() * type.bits / 8; }
};

/// A tensor whose memory `owner` keeps alive; owner is let go by the tensor's deleter, from whatever thread
/// calls it. The caller hands the tensor on, or calls its deleter. Errors: invalid_argument - a negative
/// extent, or more bytes than an address can hold.
DLManagedTensor* make_dlpack(const TensorInfo& tensor, std::shared_ptr<void> owner);

/// Reads a tensor; it stays the caller's. Errors: invalid_argument - null, or damaged (the text says where);
/// unsupported - gaps or another order (strides), element types that weft has no word for.
TensorInfo read_dlpack(const DLManagedTensor* tensor);

/// Calls the deleter, if there is one; null: nothing.
void release_dlpack(DLManagedTensor* tensor) noexcept;

namespace detail {
void check_shape(const char* function, const TensorInfo& tensor, std::size_t elements);
void check_tensor(const char* function, const TensorInfo& tensor, TensorPlace place, ElementType type);
}  // namespace detail

/// Page-locked memory as a tensor in host memory, without a copy. The buffer may go; the memory stays while
/// the tensor lives. weft's pending work on it must be done before others look.
/// Errors: invalid_argument - a shape of another number of elements.
template <TensorElement T>
DLManagedTensor* to_dlpack(const HostBuffer<T>& buffer, const std::vector<std::int64_t>& shape) {
    const TensorInfo tensor{buffer.data(), TensorPlace::host, 0, element_type<T>(), shape};
    detail::check_shape("to_dlpack", tensor, buffer.size());
    return make_dlpack(tensor, buffer.view().object());
}

/// The same for ordinary memory, which moves into the tensor.
template <TensorElement T>
requires(!std::same_as<T, bool>) DLManagedTensor* to_dlpack(std::vector<T>&& values,
                                                            const std::vector<std::int64_t>& shape) {
    TensorInfo tensor{values.data(), TensorPlace::host, 0, element_type<T>(), shape};
    detail::check_shape("to_dlpack", tensor, values.size());
    auto owner = std::make_shared<std::vector<T>>(std::move(values));
    tensor.data = owner->data();
    return make_dlpack(tensor, std::move(owner));
}

/// Another library's array in host memory, which jobs and uploads read where it lies. Calls the deleter when
/// it goes. Move-only.
template <TensorElement T>
class HostTensor {
  public:
    /// Takes the tensor over on success only. Errors: as read_dlpack; invalid_argument - not in host memory,
    /// or elements of another type.
    explicit HostTensor(DLManagedTensor* tensor) : info_(read_dlpack(tensor)) {
        detail::check_tensor("HostTensor", info_, TensorPlace::host, element_type<T>());
        owner_.reset(tensor);
    }

    std::span<T> span() const noexcept {
        return {static_cast<T*>(owner_ ? info_.data : nullptr), owner_ ? info_.elements() : 0};
    }
    const std::vector<std::int64_t>& shape() const noexcept { return info_.shape; }

  private:
    struct Release {
        void operator()(DLManagedTensor* tensor) const noexcept { release_dlpack(tensor); }
    };
    TensorInfo info_;
    std::unique_ptr<DLManagedTensor, Release> owner_;
};

}  // namespace weft
