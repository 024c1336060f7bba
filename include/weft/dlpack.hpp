// SPDX-License-Identifier: Apache-2.0
// DLPack: arrays that weft exchanges with NumPy, PyTorch, CuPy and JAX without a copy. This header is for
// host memory; weft/cuda/dlpack.hpp is for memory of a CUDA device.
//
// Example:
//     DLManagedTensor* const tensor = weft::to_dlpack(std::vector<float>(6), {2, 3});
//     const weft::HostTensor<float> array(tensor);  // takes it over
//     std::printf("%zu elements\n", array.span().size());
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <weft/array.hpp>
#include <weft/error.hpp>

struct DLManagedTensor;  // DLPack's own header is not needed

namespace weft {

enum class TensorPlace { host, cuda, other };

/// The contents of a DLManagedTensor, with the offset added to `data`. In C order without gaps.
struct TensorInfo {
    void* data = nullptr;
    TensorPlace place = TensorPlace::host;
    int ordinal = 0;  ///< of the CUDA device; 0 for host memory
    ElementType type{};
    std::vector<std::int64_t> shape{};  ///< at most 64 axes; empty: one element
    /// Errors of both: invalid_argument - a negative extent, or more bytes than an address can hold.
    std::size_t elements() const;
    std::size_t bytes() const;
};

/// A tensor whose memory `owner` keeps alive. The tensor's deleter releases `owner`, on any thread. The
/// caller passes the tensor on or calls its deleter. Errors: invalid_argument - a field out of its range, a
/// place other than host and cuda, a negative extent, null with elements, or memory beyond the last address.
DLManagedTensor* make_dlpack(const TensorInfo& tensor, std::shared_ptr<void> owner);

/// Reads a tensor, which the caller keeps; the result points at its memory. Errors: invalid_argument - null,
/// or damaged: axes, extents, null with elements, an offset or a size beyond the last address (the text says
/// which); unsupported - gaps or another order (strides), or an element type that weft does not know.
///
/// A tensor is consumed once: its consumer calls the deleter, and then the pointer is invalid. A raw
/// DLManagedTensor does not show whether that has happened (in Python the capsule does, by its name
/// "used_dltensor"), so weft cannot refuse a second HostTensor or cuda::DeviceTensor of one pointer: it would
/// read freed memory and delete it again. For a second use, ask the producer for a second tensor.
TensorInfo read_dlpack(const DLManagedTensor* tensor);

/// Calls the deleter, if there is one. Does nothing for null.
void release_dlpack(DLManagedTensor* tensor) noexcept;

namespace detail {
void check_shape(const char* function, const TensorInfo& tensor, std::size_t elements);
void check_tensor(const char* function, const TensorInfo& tensor, TensorPlace place, ElementType type);
}  // namespace detail

/// Page-locked memory as a tensor in host memory, without a copy. The memory stays while the tensor lives,
/// even if the buffer is destroyed. Pending work of weft on it must be done before another library uses it.
/// Errors: invalid_argument - a shape of another number of elements.
template <ArrayElement T>
DLManagedTensor* to_dlpack(const HostBuffer<T>& buffer, const std::vector<std::int64_t>& shape) {
    const TensorInfo tensor{buffer.data(), TensorPlace::host, 0, element_type<T>(), shape};
    detail::check_shape("to_dlpack", tensor, buffer.size());
    return make_dlpack(tensor, detail::Access::object(buffer.view()));
}

/// The same for ordinary memory, which moves into the tensor.
template <ArrayElement T>
DLManagedTensor* to_dlpack(std::vector<T>&& values, const std::vector<std::int64_t>& shape) {
    TensorInfo tensor{values.data(), TensorPlace::host, 0, element_type<T>(), shape};
    detail::check_shape("to_dlpack", tensor, values.size());
    auto owner = std::make_shared<std::vector<T>>(std::move(values));
    tensor.data = owner->data();
    return make_dlpack(tensor, std::move(owner));
}

/// Another library's array in host memory, which jobs and uploads read in place. Its destructor calls the
/// deleter. Move-only.
template <ArrayElement T>
class HostTensor {
  public:
    /// Takes the tensor over on success only, and once: see read_dlpack. Errors: as read_dlpack;
    /// invalid_argument - not in host memory, elements of another type, or not aligned to their size.
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
