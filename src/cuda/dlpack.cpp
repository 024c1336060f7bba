// SPDX-License-Identifier: Apache-2.0
#include <weft/cuda/dlpack.hpp>

#include <string>

#include "cuda/device_state.hpp"

namespace weft::cuda {

std::optional<StreamHandle> dlpack_stream(std::intptr_t value) {
    if (value == -1) return std::nullopt;
    if (value <= 0)
        throw Error(Errc::invalid_argument,
                    "cuda::dlpack_stream: no stream (got " + std::to_string(value) +
                        ", need 1 or 2 for a default stream, -1 for none, or a handle)");
    return reinterpret_cast<StreamHandle>(value);  // CUDA gives its default streams the same numbers
}

namespace detail {
namespace {

constexpr const char* kFunction = "cuda::DeviceTensor";

/// Whether the CUDA driver knows an address as memory of this device.
bool is_here(const Driver& driver, const Device& device, std::uintptr_t address) {
    int ordinal = -1;
    return driver.pointer_attribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address) == CUDA_SUCCESS &&
           ordinal == device.ordinal();
}

/// A tensor may claim to lie on this device and not do so. Copying from other addresses would break the
/// context.
void check_addresses(const Device& device, const TensorInfo& info) {
    const std::size_t bytes = info.bytes();
    if (bytes == 0) return;
    const Driver& driver = Driver::get(kFunction);
    const CurrentContext current(weft::detail::Access::state(device)->context(), kFunction);
    const auto first = reinterpret_cast<std::uintptr_t>(info.data);
    if (is_here(driver, device, first) && is_here(driver, device, first + bytes - 1)) return;
    throw Error(Errc::invalid_argument, std::string(kFunction) + ": no CUDA device memory (got " +
                                            std::to_string(bytes) + " bytes from " + std::to_string(first) +
                                            " on, need all of them on CUDA device " +
                                            std::to_string(device.ordinal()) + ")");
}

/// Null if the memory cannot be shared.
std::shared_ptr<SharedMemory> share(const Device& device, const TensorInfo& info) {
    try {
        return import_shared(device, info.data, info.bytes(), "tensor");
    } catch (const Error& e) {
        if (e.code() == Errc::unsupported || e.code() == Errc::invalid_argument) return nullptr;
        throw;
    }
}

std::shared_ptr<SharedMemory> copy(const Device& device, const TensorInfo& info, StreamHandle stream) {
    auto memory = allocate_shared(device, info.elements(), info.type.bits / 8, "tensor");
    const CurrentContext current(weft::detail::Access::state(device)->context(), kFunction);
    if (info.bytes() != 0)
        check(cudaMemcpyAsync(pointer_of(*memory), info.data, info.bytes(), cudaMemcpyDeviceToDevice, stream),
              kFunction, "cudaMemcpyAsync");
    return memory;
}

}  // namespace

TakenTensor take_tensor(const Device& device, DLManagedTensor* tensor, StreamHandle stream,
                        ElementType type) {
    TakenTensor taken;
    taken.info = read_dlpack(tensor);
    weft::detail::check_tensor(kFunction, taken.info, TensorPlace::cuda, type);
    if (taken.info.ordinal != device.ordinal())
        throw Error(Errc::invalid_argument, std::string(kFunction) +
                                                ": tensor of another device (got CUDA device " +
                                                std::to_string(taken.info.ordinal) + ", need " +
                                                std::to_string(device.ordinal()) + ")");
    check_addresses(device, taken.info);
    taken.memory = share(device, taken.info);
    taken.copied = taken.memory == nullptr;
    if (taken.copied) taken.memory = copy(device, taken.info, stream);
    taken.ready = device.event(stream);
    taken.tensor = {tensor, ReleaseAfter{taken.copied ? taken.ready : Event()}};
    return taken;
}

void ReleaseAfter::operator()(DLManagedTensor* tensor) const noexcept {
    try {
        read.wait();
    } catch (...) {
        // The device is lost, so nothing reads the tensor any more.
    }
    release_dlpack(tensor);
}

}  // namespace detail
}  // namespace weft::cuda
