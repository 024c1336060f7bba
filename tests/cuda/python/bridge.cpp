// SPDX-License-Identifier: Apache-2.0
// The functions of weft that the DLPack tests in Python need, as C functions for ctypes. Elements are int32.
// A function that fails returns null or -1, and weft_bridge_error() returns the reason.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <weft/cuda/dlpack.hpp>
#include <weft/weft.hpp>

namespace {

constexpr std::uint32_t kAffine[] = {
#include "shaders/affine.spv.inc"
};
constexpr std::uint32_t kSlow[] = {
#include "shaders/slow.spv.inc"
};

struct Bridge {
    weft::Backend backend;
    weft::cuda::Device device{backend};
    weft::Stream stream{backend};
    weft::Program affine{backend, kAffine};
    weft::Program slow{backend, kSlow};
};

struct AffineParameters {
    std::uint32_t factor, offset;
};

std::string& last_error() {
    static std::string text;
    return text;
}

template <class Call>
auto guarded(Call&& call, decltype(call()) failed) {
    try {
        return call();
    } catch (const std::exception& e) {
        last_error() = e.what();
        return failed;
    }
}

}  // namespace

extern "C" {

const char* weft_bridge_error() {
    return last_error().c_str();
}

Bridge* weft_bridge_open() {
    return guarded([] { return new Bridge; }, nullptr);
}

void weft_bridge_close(Bridge* bridge) {
    delete bridge;
}

int weft_bridge_ordinal(const Bridge* bridge) {
    return bridge->device.ordinal();
}

/// The number of buffers that living tensors use.
std::uint64_t weft_bridge_live(Bridge* bridge) {
    bridge->stream.wait();  // work under way keeps its buffers alive
    std::uint64_t live = 0;
    for (const weft::MemoryReport::Named& named : bridge->backend.memory().names)
        if (named.name == "shared buffer" || named.name == "tensor") live += named.live_count;
    return live;
}

/// A tensor [rows, columns] whose element i is i * 3 + 7. It is made by a stream of weft that is still busy
/// when this function returns.
DLManagedTensor* weft_bridge_make(Bridge* bridge, std::int64_t rows, std::int64_t columns,
                                  std::intptr_t stream, std::uint32_t slow_rounds) {
    return guarded(
        [&] {
            const auto count = static_cast<std::size_t>(rows * columns);
            const weft::cuda::SharedBuffer<std::int32_t> out(bridge->device, count);
            weft::Buffer<std::int32_t> index(bridge->backend, count);
            std::vector<std::int32_t> numbers(count);
            for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<std::int32_t>(i);
            bridge->stream.upload(numbers, index);
            if (slow_rounds != 0) {
                weft::Buffer<std::uint32_t> a(bridge->backend, 64), b(bridge->backend, 64);
                bridge->stream.fill(a.view(), 1);
                bridge->stream.dispatch(bridge->slow, {a, b}, 64, slow_rounds);
                bridge->stream.submit();  // the next list begins when this one is done
            }
            bridge->stream.dispatch(bridge->affine, {index, out.buffer()}, count, AffineParameters{2, 7});
            return weft::cuda::to_dlpack(bridge->device, out, {rows, columns}, bridge->stream.submit(),
                                         weft::cuda::dlpack_stream(stream));
        },
        nullptr);
}

/// Takes over `tensor` with elements x, and writes x[i] * 5 + 1 + i to `out`. Returns 1 if the tensor was
/// copied, 0 if it was shared.
int weft_bridge_take(Bridge* bridge, DLManagedTensor* tensor, std::intptr_t stream, std::int32_t* out,
                     std::size_t count) {
    return guarded(
        [&] {
            const weft::cuda::DeviceTensor<std::int32_t> taken(bridge->device, tensor,
                                                               weft::cuda::dlpack_stream(stream).value());
            weft::Buffer<std::int32_t> result(bridge->backend, count);
            bridge->stream.wait_for(taken.ready());
            bridge->stream.dispatch(bridge->affine, {taken.buffer(), result}, count, AffineParameters{5, 1});
            bridge->stream.download<std::int32_t>(result.view(), {out, count});
            return taken.copied() ? 1 : 0;
        },
        -1);
}

}  // extern "C"
