// SPDX-License-Identifier: Apache-2.0
// DLPack on a CUDA device: resident results of weft for PyTorch, CuPy and JAX, and their arrays for weft.
// Target weft::cuda.
//
// Example:
//     weft::Backend backend;
//     const weft::cuda::Device device(backend);
//     const weft::cuda::SharedBuffer<float> shared(device, 6);
//     DLManagedTensor* const tensor = weft::cuda::to_dlpack(device, shared, {2, 3}, weft::Event(), nullptr);
//     weft::release_dlpack(tensor);
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <weft/cuda/interop.hpp>
#include <weft/dlpack.hpp>

namespace weft::cuda {

/// What the `stream` argument of Python's __dlpack__ means: a stream (1: CUDA's legacy default stream, 2: the
/// one of the thread), or none for -1, which asks for no order. None in Python is 1.
/// Errors: invalid_argument - 0, which the protocol forbids, or another negative number.
std::optional<StreamHandle> dlpack_stream(std::intptr_t value);

/// A resident result as a tensor on the CUDA device, without a copy; it keeps the memory alive. Work on
/// `consumer` from now on runs after `ready`, without the host. Without a consumer the caller is responsible
/// for the order. Errors: invalid_argument - a shape of another number of elements; as Device::wait_for.
template <ArrayElement T>
DLManagedTensor* to_dlpack(const Device& device, const SharedBuffer<T>& buffer,
                           const std::vector<std::int64_t>& shape, const Event& ready,
                           std::optional<StreamHandle> consumer) {
    const TensorInfo tensor{buffer.span().data(), TensorPlace::cuda, device.ordinal(), element_type<T>(),
                            shape};
    weft::detail::check_shape("cuda::to_dlpack", tensor, buffer.size());
    if (consumer) device.wait_for(*consumer, ready);
    return make_dlpack(tensor, weft::detail::Access::memory(buffer));
}

namespace detail {

/// Calls the deleter after `read`, because the producer may then use its memory in any order.
struct ReleaseAfter {
    Event read;
    void operator()(DLManagedTensor* tensor) const noexcept;
};

/// A tensor that was taken over from another library.
struct TakenTensor {
    std::unique_ptr<DLManagedTensor, ReleaseAfter> tensor;
    TensorInfo info;
    std::shared_ptr<SharedMemory> memory;
    Event ready;
    bool copied = false;
};
TakenTensor take_tensor(const Device&, DLManagedTensor*, StreamHandle stream, ElementType type);

}  // namespace detail

/// Another library's array on the CUDA device as a Buffer of weft. If its memory can be shared (see
/// SharedBuffer), the buffer is that memory. Otherwise CUDA copies it on the device, because memory of
/// cudaMalloc, which most libraries use, cannot enter Vulkan. Move-only. Destroying it waits for that copy
/// and calls the deleter. If the array was not copied, weft's work on it must be done by then.
template <ArrayElement T>
class DeviceTensor {
  public:
    /// `stream`: the one that the producer's __dlpack__ was given; the tensor's values are complete in its
    /// order. Takes the tensor over on success only, and once: see read_dlpack. Errors: as read_dlpack;
    /// invalid_argument - not on this device, not CUDA memory there from the first byte to the last,
    /// elements of another type, or not aligned to their size; out_of_memory; driver.
    DeviceTensor(const Device& device, DLManagedTensor* tensor, StreamHandle stream)
        : taken_(detail::take_tensor(device, tensor, stream, element_type<T>())),
          buffer_(weft::detail::Access::make<Buffer<T>>(detail::object_of(*taken_.memory),
                                                        taken_.info.elements())) {}
    DeviceTensor(DeviceTensor&&) noexcept = default;
    DeviceTensor& operator=(DeviceTensor&&) noexcept = default;

    /// Complete after ready(). Errors: invalid_argument - moved from.
    const Buffer<T>& buffer() const {
        if (!taken_.memory) throw Error(Errc::invalid_argument, "DeviceTensor: used after it was moved from");
        return buffer_;
    }
    /// For Stream::wait_for, before work on the buffer.
    const Event& ready() const noexcept { return taken_.ready; }
    const std::vector<std::int64_t>& shape() const noexcept { return taken_.info.shape; }
    bool copied() const noexcept { return taken_.copied; }

  private:
    detail::TakenTensor taken_;
    Buffer<T> buffer_;
};

}  // namespace weft::cuda
