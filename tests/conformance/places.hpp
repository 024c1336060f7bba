// SPDX-License-Identifier: Apache-2.0
// The places where an op can run, each with its own arrays: Vulkan on buffers and on host memory, CUDA on
// device memory and on host memory, the C API on both. A table of cases runs in all places that its program
// has.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <weft/weft.hpp>
#ifdef WEFT_CONFORMANCE_CUDA
#include <weft/cuda/encode.hpp>
#include <weft/cuda/field.hpp>
#include <weft/cuda/host.hpp>
#include <weft/cuda/kernel_matrix.hpp>
#include <weft/cuda/kernel_operator.hpp>
#include <weft/cuda/lattice.hpp>
#include <weft/cuda/ntt.hpp>

#include "support/cuda_array.hpp"
#endif

namespace weft_test {

/// The number of bytes after every output, which must not change.
inline constexpr std::size_t kGuardBytes = 256;
inline constexpr unsigned char kGuardByte = 0xa5;

template <class T>
std::vector<T> guarded(std::size_t count) {
    std::vector<T> all(count + kGuardBytes / sizeof(T));
    std::memset(static_cast<void*>(all.data()), kGuardByte, all.size() * sizeof(T));
    return all;
}
template <class T>
std::vector<T> without_guard(std::vector<T> all) {
    std::vector<unsigned char> guard(kGuardBytes);
    const std::size_t count = all.size() - kGuardBytes / sizeof(T);
    std::memcpy(guard.data(), all.data() + count, kGuardBytes);
    CHECK(std::count(guard.begin(), guard.end(), kGuardByte) == static_cast<std::ptrdiff_t>(kGuardBytes));
    all.resize(count);
    return all;
}

/// An array that an op writes. `all` is the memory that contains it, including the guard.
template <class Array>
struct Output {
    Array all;
    std::size_t count;
};

class VulkanResident {
  public:
    static constexpr bool kHost = false, kCuda = false, kC = false;
    using In = weft::ConstDeviceArray;
    using Out = weft::DeviceArray;

    explicit VulkanResident(weft::Backend& backend) : backend_(backend), stream_(backend) {}

    static const char* name() { return "Vulkan, resident"; }
    weft::Stream& stream() { return stream_; }

    template <class T>
    weft::Buffer<T> input(const std::vector<T>& values) {
        weft::Buffer<T> buffer(backend_, std::max<std::size_t>(values.size(), 1));
        if (!values.empty()) stream_.upload(std::span<const T>(values), buffer.view(0, values.size()));
        return buffer;
    }
    template <class T>
    Output<weft::Buffer<T>> output(std::size_t count) {
        return {input(guarded<T>(count)), count};
    }
    template <class T>
    weft::BufferView<const T> read(const weft::Buffer<T>& input, std::size_t count, std::size_t first = 0) {
        return input.view(first, count);
    }
    template <class T>
    weft::BufferView<T> write(const weft::Buffer<T>& input, std::size_t count, std::size_t first = 0) {
        return input.view(first, count);
    }
    template <class T>
    weft::BufferView<T> write(const Output<weft::Buffer<T>>& output) {
        return output.all.view(0, output.count);
    }
    template <class T>
    std::vector<T> result(const Output<weft::Buffer<T>>& output) {
        return without_guard(stream_.download(output.all));
    }
    template <class T>
    std::vector<T> values(const weft::Buffer<T>& input) {
        return stream_.download(input);
    }

  private:
    weft::Backend& backend_;
    weft::Stream stream_;
};

// The common part of the places on host memory.
class HostMemory {
  public:
    static constexpr bool kHost = true;
    using In = weft::ConstHostArray;
    using Out = weft::HostArray;

    template <class T>
    std::vector<T> input(const std::vector<T>& values) {
        return values;
    }
    template <class T>
    Output<std::vector<T>> output(std::size_t count) {
        return {guarded<T>(count), count};
    }
    template <class T>
    std::span<const T> read(const std::vector<T>& input, std::size_t count, std::size_t first = 0) {
        return std::span(input).subspan(first, count);
    }
    template <class T>
    std::span<T> write(std::vector<T>& input, std::size_t count, std::size_t first = 0) {
        return std::span(input).subspan(first, count);
    }
    template <class T>
    std::span<T> write(Output<std::vector<T>>& output) {
        return std::span(output.all).first(output.count);
    }
    template <class T>
    std::vector<T> result(const Output<std::vector<T>>& output) {
        return without_guard(output.all);
    }
    template <class T>
    std::vector<T> values(const std::vector<T>& input) {
        return input;
    }
};

class VulkanStreamed : public HostMemory {
  public:
    static constexpr bool kCuda = false, kC = false;
    VulkanStreamed(weft::Backend& backend, const char* name, weft::BatchOptions batch)
        : backend_(backend), name_(name), batch_(std::move(batch)) {}

    const char* name() const { return name_; }
    weft::Backend& backend() { return backend_; }
    const weft::BatchOptions& batch() const { return batch_; }

  private:
    weft::Backend& backend_;
    const char* name_;
    weft::BatchOptions batch_;
};

#ifdef WEFT_CONFORMANCE_CUDA
class CudaResident {
  public:
    static constexpr bool kHost = false, kCuda = true, kC = false;
    using In = weft::cuda::ConstDeviceArray;
    using Out = weft::cuda::DeviceArray;

    static const char* name() { return "CUDA, resident"; }
    weft::cuda::StreamHandle stream() { return stream_; }

    template <class T>
    CudaArray<T> input(const std::vector<T>& values) {
        return CudaArray<T>(values);
    }
    template <class T>
    Output<CudaArray<T>> output(std::size_t count) {
        return {CudaArray<T>(guarded<T>(count)), count};
    }
    template <class T>
    weft::cuda::DeviceSpan<const T> read(const CudaArray<T>& input, std::size_t count,
                                         std::size_t first = 0) {
        return input.span(first, count);
    }
    template <class T>
    weft::cuda::DeviceSpan<T> write(const CudaArray<T>& input, std::size_t count, std::size_t first = 0) {
        return input.span(first, count);
    }
    template <class T>
    weft::cuda::DeviceSpan<T> write(const Output<CudaArray<T>>& output) {
        return output.all.span(0, output.count);
    }
    template <class T>
    std::vector<T> result(const Output<CudaArray<T>>& output) {
        stream_.wait();
        return without_guard(output.all.download());
    }
    template <class T>
    std::vector<T> values(const CudaArray<T>& input) {
        stream_.wait();
        return input.download();
    }

  private:
    CudaStream stream_;
};

class CudaStreamed : public HostMemory {
  public:
    static constexpr bool kCuda = true, kC = false;
    static const char* name() { return "CUDA, from host memory"; }
    static weft::BatchOptions batch() { return {}; }
};
#endif

// call_<op>(place, arguments ...) calls the op of the place's back end; the backend or stream of the place
// comes before the arguments.
#define WEFT_CALL_BY_VULKAN(op)                                    \
    template <class... Arguments>                                  \
    auto call_##op(VulkanResident& place, const Arguments&... a) { \
        return weft::op(place.stream(), a...);                     \
    }                                                              \
    template <class... Arguments>                                  \
    auto call_##op(VulkanStreamed& place, const Arguments&... a) { \
        return weft::op(place.backend(), a...);                    \
    }
#ifdef WEFT_CONFORMANCE_CUDA
#define WEFT_CALL_EVERYWHERE(op)                                 \
    WEFT_CALL_BY_VULKAN(op)                                      \
    template <class... Arguments>                                \
    auto call_##op(CudaResident& place, const Arguments&... a) { \
        return weft::cuda::op(place.stream(), a...);             \
    }                                                            \
    template <class... Arguments>                                \
    auto call_##op(CudaStreamed&, const Arguments&... a) {       \
        return weft::cuda::op(a...);                             \
    }
#else
#define WEFT_CALL_EVERYWHERE(op) WEFT_CALL_BY_VULKAN(op)
#endif
WEFT_CALL_EVERYWHERE(field_apply)
WEFT_CALL_EVERYWHERE(ntt)
WEFT_CALL_EVERYWHERE(ntt_extend)
WEFT_CALL_EVERYWHERE(ntt_product)
WEFT_CALL_EVERYWHERE(encode)
WEFT_CALL_EVERYWHERE(encode_batch)
WEFT_CALL_EVERYWHERE(kernel_matrix)
WEFT_CALL_EVERYWHERE(kernel_apply)
WEFT_CALL_EVERYWHERE(kernel_rows)
WEFT_CALL_EVERYWHERE(kernel_diagonal)
WEFT_CALL_EVERYWHERE(lattice_encode)
WEFT_CALL_EVERYWHERE(lattice_decode)
WEFT_CALL_EVERYWHERE(lattice_quantize)
WEFT_CALL_EVERYWHERE(lattice_inner)

#ifdef WEFT_CONFORMANCE_C
}  // namespace weft_test
#include "conformance/c_calls.hpp"
#include "conformance/c_kernel_calls.hpp"
namespace weft_test {
#endif

/// Calls body(place) for every place of this program. One place cuts jobs into chunks of `chunk_elements`; 0
/// leaves this place out.
template <class Body>
void on_places(weft::Backend& backend, std::uint64_t chunk_elements, Body&& body) {
    const auto at = [&](auto&& place) {
        INFO("place: " << std::string(place.name()));
        body(place);
    };
#ifdef WEFT_CONFORMANCE_C
    static_cast<void>(backend);
    at(CResident());
    at(CStreamed("C, from host memory", {}));
    if (chunk_elements != 0) at(CStreamed("C, in chunks", {.chunk_elements = chunk_elements}));
#else
    at(VulkanResident(backend));
    at(VulkanStreamed(backend, "Vulkan, from host memory", {}));
    if (chunk_elements != 0) {
        at(VulkanStreamed(backend, "Vulkan, in chunks", {.chunk_elements = chunk_elements}));
        at(VulkanStreamed(backend, "Vulkan, one chunk after the other",
                          {.mode = weft::BatchMode::sequential, .chunk_elements = chunk_elements}));
    }
#endif
#ifdef WEFT_CONFORMANCE_CUDA
    at(CudaResident());
    at(CudaStreamed());
#endif
}

}  // namespace weft_test
