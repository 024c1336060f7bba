// SPDX-License-Identifier: Apache-2.0
// Memory that weft and CUDA share, and the order between them.
#include <optional>

#include <weft/cuda/dlpack.hpp>

#include "calls.hpp"
#include "cuda/cuda.hpp"
#include "cuda/cuda_device.hpp"
#include "errors.hpp"

namespace weft::python {

using Shared = cuda::SharedBuffer<std::byte>;

/// Memory of a Buffer in CUDA.
struct CudaMemory {
    std::shared_ptr<Backend> backend;
    cuda::Device device;
    std::optional<Shared> shared;
    std::optional<Array> array = std::nullopt;  ///< of another library, whose memory it is
    Event used = {};                            ///< work of CUDA that weft put on a stream

    /// Waits for the work on the memory, which its library may use otherwise when `array` is gone.
    void finish() noexcept {
        if (array) try {
                backend->wait_idle();
            } catch (const std::exception&) {
                // A device that is lost is idle.
            }
        shared.reset();
    }
};

namespace {

/// The CUDA device of a backend, which is kept with it.
const cuda::Device& device_of(const PyBackend& backend) {
    std::shared_ptr<void>& kept = backend.cuda_device();
    if (!kept) kept = std::make_shared<cuda::Device>(*backend.get());
    return *static_cast<const cuda::Device*>(kept.get());
}

/// Makes the memory that of the buffer.
void give(PyBuffer& buffer, CudaMemory memory) {
    buffer.object = detail::Access::object(memory.shared->view());
    buffer.cuda = {new CudaMemory(std::move(memory)), [](CudaMemory* gone) {
                       {
                           const WithoutLock unlocked;
                           gone->finish();
                       }
                       delete gone;
                   }};
}

/// The array's own memory; nothing if it cannot be shared, or must not be written.
std::optional<Shared> share(const cuda::Device& device, const Array& array) {
    if (is_read_only(array.object)) return std::nullopt;
    try {
        return Shared(device, {static_cast<std::byte*>(array.data), static_cast<std::size_t>(array.bytes())},
                      "tensor");
    } catch (const Error& e) {
        if (e.code() == Errc::unsupported || e.code() == Errc::invalid_argument) return std::nullopt;
        throw;
    }
}

void copy(const Array& array, const Shared& target, const Place& place) {
    const WithoutLock unlocked;
    const CurrentDevice current(place.ordinal);
    const cuda::StreamHandle stream = stream_handle(place.stream);
    check_cuda(
        cudaMemcpyAsync(target.span().data(), array.data, array.bytes(), cudaMemcpyDeviceToDevice, stream),
        "cudaMemcpyAsync");
    check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

}  // namespace

void check_cuda(cudaError_t result, const char* call) {
    if (result == cudaSuccess) return;
    (void)cudaGetLastError();  // otherwise the next call would report this error again
    throw Error(result == cudaErrorMemoryAllocation ? Errc::out_of_memory : Errc::driver,
                "weftgpu: " + std::string(call) + " failed (got " + cudaGetErrorName(result) + ": " +
                    cudaGetErrorString(result) + ")",
                result);
}

cuda::StreamHandle stream_handle(std::intptr_t number) {
    const std::optional<cuda::StreamHandle> stream = cuda::dlpack_stream(number);
    if (!stream) refuse("weftgpu: no stream (got -1, need one that the work can be ordered by)");
    return number == 1 ? nullptr : *stream;
}

CurrentDevice::CurrentDevice(int ordinal) {
    check_cuda(cudaGetDevice(&before_), "cudaGetDevice");
    changed_ = before_ != ordinal;
    if (changed_) check_cuda(cudaSetDevice(ordinal), "cudaSetDevice");
}

CurrentDevice::~CurrentDevice() {
    if (changed_) (void)cudaSetDevice(before_);
}

void require_cuda(const char* call) {
    static bool there = false;  // used with the interpreter's lock held
    require_own_driver(call);
    if (there) return;
    try {
        there = !cuda::list_devices().empty();
    } catch (const Error& e) {
        throw Error(e.code(), std::string(call) + ": an array on a CUDA device: " + e.what(),
                    e.native_code());
    }
}

int cuda_device_of_memory(const void* data) {
    cudaPointerAttributes found{};
    if (cudaPointerGetAttributes(&found, data) != cudaSuccess) {
        (void)cudaGetLastError();
        return -1;
    }
    return found.type == cudaMemoryTypeDevice || found.type == cudaMemoryTypeManaged ? found.device : -1;
}

void check_cuda_memory(const std::string& argument, const void* data, std::uint64_t bytes, int ordinal) {
    for (const std::uint64_t byte : {std::uint64_t{0}, bytes - 1})
        if (cuda_device_of_memory(static_cast<const std::byte*>(data) + byte) != ordinal)
            refuse(argument + ": no CUDA device memory (need " + std::to_string(bytes) +
                   " bytes on CUDA device " + std::to_string(ordinal) + ")");
}

void make_cuda_memory(PyBuffer& buffer, const PyBackend& backend, const std::string& name) {
    const cuda::Device& device = device_of(backend);
    give(buffer, {backend.get(), device, Shared(device, buffer.bytes(), name)});
}

PyBuffer buffer_of_cuda_array(const PyBackend& backend, nb::handle object, const Place& place) {
    constexpr const char* call = "from_dlpack";
    const Array array = input(call, "x", object, {}, place);
    const cuda::Device& device = device_of(backend);
    if (device.ordinal() != place.ordinal)
        refuse("from_dlpack: x: is on another device (got CUDA device " + std::to_string(place.ordinal) +
               ", need " + std::to_string(device.ordinal()) + ", that of the backend)");
    PyBuffer buffer{nullptr, 0, array.type, array.shape, false, nullptr};
    if (std::optional<Shared> own = share(device, array)) {
        device.hold_weft(stream_handle(place.stream));
        give(buffer, {backend.get(), device, std::move(own), array});
        return buffer;
    }
    Shared copied(device, static_cast<std::size_t>(array.bytes()), "tensor");
    if (array.size != 0) copy(array, copied, place);
    give(buffer, {backend.get(), device, std::move(copied)});
    return buffer;
}

int cuda_ordinal(const CudaMemory& memory) {
    return memory.device.ordinal();
}

void* cuda_address(const CudaMemory& memory) {
    return memory.shared->span().data();
}

void order_consumer(CudaMemory& memory, std::intptr_t stream) {
    const std::optional<cuda::StreamHandle> consumer = cuda::dlpack_stream(stream);
    if (!consumer) return;
    memory.device.wait_for_all(stream_handle(stream));
    memory.device.wait_for(stream_handle(stream), memory.used);
}

Event cuda_event(const PyBackend& backend, std::intptr_t stream) {
    return device_of(backend).event(stream_handle(stream));
}

void note_use(const Array& array, const Place& place) {
    const PyBuffer* buffer = nullptr;
    if (!nb::try_cast(array.object, buffer) || buffer == nullptr || !buffer->cuda) return;
    CudaMemory& memory = *buffer->cuda;
    memory.used = memory.device.event(stream_handle(place.stream));
    memory.device.hold_weft(stream_handle(place.stream));
}

}  // namespace weft::python
