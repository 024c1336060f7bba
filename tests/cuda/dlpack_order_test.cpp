// SPDX-License-Identifier: Apache-2.0
// The order of DLPack: a consumer's stream waits for weft, and weft waits for a producer's stream. A stream
// other than the named one reads too early, which shows that the order comes from the named stream.
#include <memory>

#include <weft/cuda/dlpack.hpp>

#include "cuda/fixture.hpp"

using namespace weft_test;
using namespace std::chrono_literals;
using weft::Errc;
using weft::cuda::DeviceTensor;
using weft::cuda::SharedBuffer;
using Word = std::uint32_t;

namespace {

struct Release {
    void operator()(DLManagedTensor* tensor) const { weft::release_dlpack(tensor); }
};
using Tensor = std::unique_ptr<DLManagedTensor, Release>;

weft::cuda::DeviceSpan<Word> span_of(const Tensor& tensor) {
    const weft::TensorInfo info = weft::read_dlpack(tensor.get());
    return {static_cast<Word*>(info.data), info.elements()};
}

}  // namespace

TEST_CASE("dlpack order: the consumer's stream waits for weft, any other reads too early") {
    on_cuda([](weft::Backend& backend, const weft::cuda::Device& device) {
        constexpr std::size_t kCount = 1000;
        weft::Stream stream(backend);
        const CudaStream holding, consumer, other;
        const SharedBuffer<Word> x(device, kCount), seen(device, kCount), early(device, kCount);
        stream.fill(x.view(), 1);
        REQUIRE(stream.wait());
        Hold hold(holding);
        stream.wait_for(device.event(holding));
        stream.fill(x.view(), 2);
        const weft::Event ready = stream.submit();
        const Tensor tensor(weft::cuda::to_dlpack(device, x, {10, 100}, ready, consumer));
        const Tensor unordered(weft::cuda::to_dlpack(device, x, {10, 100}, ready, std::nullopt));
        cuda_affine(span_of(tensor), seen.span(), 1, 0, consumer);
        for (const Tensor* taken : {&tensor, &unordered}) {
            cuda_affine(span_of(*taken), early.span(), 1, 0, other);
            need(cudaStreamSynchronize(other));
            CHECK(from_cuda(early.span()) == std::vector<Word>(kCount, 1));
        }
        CHECK(cudaStreamQuery(consumer) == cudaErrorNotReady);
        hold.let_go();
        need(cudaStreamSynchronize(consumer));
        CHECK(from_cuda(seen.span()) == std::vector<Word>(kCount, 2));
    });
}

TEST_CASE("dlpack order: weft waits for the producer's stream, with another one it reads too early") {
    on_cuda([](weft::Backend& backend, const weft::cuda::Device& device) {
        constexpr std::size_t kCount = 1000;
        weft::Stream stream(backend);
        const CudaStream producer, other;
        const SharedBuffer<Word> x(device, kCount);
        stream.fill(x.view(), 1);
        REQUIRE(stream.wait());
        const auto given = [&] { return weft::cuda::to_dlpack(device, x, {kCount}, {}, std::nullopt); };
        Hold hold(producer);
        cuda_affine(x.span(), x.span(), 0, 7, producer);
        // It is kept until the end, because freeing CUDA memory waits for all streams.
        const DeviceTensor<Word> wrong(device, given(), other);
        stream.wait_for(wrong.ready());
        CHECK(stream.download(wrong.buffer()) == std::vector<Word>(kCount, 1));
        const DeviceTensor<Word> taken(device, given(), producer);
        stream.wait_for(taken.ready());
        weft::Buffer<Word> y(backend, kCount);
        stream.copy<Word>(taken.buffer().view(), y.view());
        CHECK_FALSE(stream.wait(300ms));
        hold.let_go();
        REQUIRE(stream.wait(20s));
        CHECK(stream.download(y) == std::vector<Word>(kCount, 7));
    });
}

TEST_CASE("dlpack order: a refused call leaves the tensor to the caller") {
    on_cuda([](weft::Backend&, const weft::cuda::Device& device) {
        const CudaStream cuda;
        const SharedBuffer<Word> x(device, 100);
        check_error(Errc::invalid_argument, "need 100", [&] {
            weft::cuda::to_dlpack(device, x, {10, 11}, {}, std::nullopt);
        });
        const Tensor tensor(weft::cuda::to_dlpack(device, x, {100}, {}, std::nullopt));
        check_error(Errc::invalid_argument, "got uint32, need float32",
                    [&] { const DeviceTensor<float> wrong(device, tensor.get(), cuda); });
        CHECK(span_of(tensor).size() == 100);
    });
}

TEST_CASE("dlpack: memory that is not the device's is refused and stays the caller's") {
    on_cuda([](weft::Backend& backend, const weft::cuda::Device& device) {
        const CudaStream stream;
        std::vector<Word> values(16, 1);
        Word* allocated = nullptr;
        need(cudaMalloc(reinterpret_cast<void**>(&allocated), values.size() * sizeof(Word)));
        auto owner = std::make_shared<int>(0);
        const auto refused = [&](void* data, std::int64_t count, int ordinal, const char* part) {
            DLManagedTensor* const tensor = weft::make_dlpack(
                {data, weft::TensorPlace::cuda, ordinal, weft::element_type<Word>(), {count}}, owner);
            check_error(Errc::invalid_argument, part,
                        [&] { DeviceTensor<Word> taken(device, tensor, stream); });
            CHECK(owner.use_count() == 2);
            weft::release_dlpack(tensor);
            CHECK(owner.use_count() == 1);
        };
        refused(values.data(), 16, device.ordinal(), "no CUDA device memory");
        refused(allocated, std::int64_t{1} << 44, device.ordinal(), "no CUDA device memory");
        refused(allocated, 16, device.ordinal() + 1, "tensor of another device");
        need(cudaFree(allocated));
        // CUDA's context still works.
        weft::Stream work(backend);
        const SharedBuffer<Word> x(device, values.size());
        work.fill(x.view(), 3);
        REQUIRE(work.wait());
        CHECK(from_cuda(x.span()) == std::vector<Word>(values.size(), 3));
    });
}
