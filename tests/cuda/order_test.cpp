// SPDX-License-Identifier: Apache-2.0
// The order between weft and CUDA without the host: it holds, and it comes from the signals.
#include <algorithm>
#include <cstdlib>
#include <memory>

#include "cuda/fixture.hpp"
#include "support/child_process.hpp"

using namespace weft_test;
using namespace std::chrono_literals;
using weft::Errc;
using weft::cuda::SharedBuffer;
using Word = std::uint32_t;

TEST_CASE("order: weft stalls until CUDA's signal comes, and not a moment less") {
    on_cuda([](weft::Backend& backend, const weft::cuda::Device& device) {
        weft::Stream stream(backend);
        const CudaStream cuda;
        const SharedBuffer<Word> x(device, 1000);
        stream.fill(x.view(), 1);
        REQUIRE(stream.wait());
        Hold hold(cuda);
        cuda_affine(x.span(), x.span(), 1, 41, cuda);
        // Without a wait, weft reads too early.
        CHECK(stream.download(x.buffer())[0] == 1);
        const weft::Event signal = device.event(cuda);
        CHECK_FALSE(signal.done());
        CHECK_FALSE(signal.wait(200ms));
        stream.wait_for(signal);
        const weft::Event behind = stream.submit();  // contains only the wait
        weft::Buffer<Word> y(backend, 1000);
        stream.copy<Word>(x.view(), y.view());
        CHECK_FALSE(stream.wait(500ms));
        CHECK_FALSE(behind.done());
        hold.let_go();
        REQUIRE(stream.wait(20s));
        CHECK(signal.done());
        CHECK(behind.done());
        CHECK(stream.download(y) == std::vector<Word>(1000, 42));
    });
}

TEST_CASE("order: CUDA stalls until weft's signal comes") {
    on_cuda([](weft::Backend& backend, const weft::cuda::Device& device) {
        weft::Stream stream(backend);
        const CudaStream first, second, all, free;
        const SharedBuffer<Word> x(device, 1000), early(device, 1000);
        stream.fill(x.view(), 1);
        REQUIRE(stream.wait());
        Hold hold(first);
        stream.wait_for(device.event(first));  // holds weft, which holds `second`
        stream.fill(x.view(), 2);
        device.wait_for(second, stream.submit());
        device.wait_for_all(all);
        cuda_affine(x.span(), early.span(), 1, 0, free);  // without a wait, CUDA reads too early
        need(cudaStreamSynchronize(free));
        CHECK(from_cuda(early.span())[5] == 1);
        cuda_affine(x.span(), x.span(), 10, 1, second);
        std::this_thread::sleep_for(500ms);
        CHECK(cudaStreamQuery(second) == cudaErrorNotReady);
        CHECK(cudaStreamQuery(all) == cudaErrorNotReady);
        hold.let_go();
        need(cudaStreamSynchronize(second));
        need(cudaStreamSynchronize(all));
        CHECK(from_cuda(x.span()) == std::vector<Word>(1000, 21));
    });
}

TEST_CASE("order: jobs wait for CUDA through hold_weft") {
    on_cuda([](weft::Backend& backend, const weft::cuda::Device& device) {
        const weft::Program program(backend, kAffine);
        weft::Stream stream(backend);
        const CudaStream cuda;
        constexpr std::size_t kPages = 2048, kCount = kPages * 4096 / sizeof(Word);
        // Memory that both APIs can access directly, because a semaphore does not delay copies by the host.
        const std::unique_ptr<void, decltype(&std::free)> pages(std::aligned_alloc(4096, kPages * 4096),
                                                                std::free);
        const std::span<Word> in(static_cast<Word*>(pages.get()), kCount);
        std::fill(in.begin(), in.end(), 1u);
        const weft::HostRegistration registration(backend, std::as_writable_bytes(in));
        need(cudaHostRegister(in.data(), in.size_bytes(), cudaHostRegisterDefault));
        const SharedBuffer<Word> fresh(device, kCount);
        stream.fill(fresh.view(), 9);
        REQUIRE(stream.wait());
        {
            weft::HostBuffer<Word> out(backend, kCount);
            weft::JobPipeline jobs(backend, program);
            Hold hold(cuda);
            need(cudaMemcpyAsync(in.data(), fresh.span().data(), in.size_bytes(), cudaMemcpyDeviceToHost,
                                 cuda));
            device.hold_weft(cuda);
            const weft::JobToken job = jobs.submit({.inputs = {in},
                                                    .outputs = {out.span()},
                                                    .elements = kCount,
                                                    .parameters = AffineParameters{1, 0}});
            CHECK_FALSE(jobs.wait(job, 500ms));
            hold.let_go();
            REQUIRE(jobs.wait(job, 20s));
            CHECK(out[0] == 9);
            CHECK(out[kCount - 1] == 9 + Word(kCount - 1));
        }
        need(cudaHostUnregister(in.data()));
    });
}

TEST_CASE("order: ten thousand ping-pongs under load") {
    on_cuda([](weft::Backend& backend, const weft::cuda::Device& device) {
        constexpr std::size_t kCount = 4096;
        constexpr int kRounds = 10'000;
        const weft::Program program(backend, kAffine);
        weft::Stream stream(backend);
        const CudaStream cuda, load;
        const SharedBuffer<Word> x(device, kCount), y(device, kCount);
        std::vector<Word> expected = words(kCount);
        stream.upload(std::span<const Word>(expected), x.view());
        std::atomic<bool> stop{false};
        std::thread cuda_load([&] {
            need(cudaSetDevice(device.ordinal()));
            while (!stop) {
                cuda_spin(50'000, load);
                need(cudaStreamSynchronize(load));
            }
        });
        std::thread weft_load([&] {
            while (!stop) {
                AffineWork work({300'000, 10, 500'000});
                weft::run_batch(backend, program, work.jobs);
                CHECK(work.right());
            }
        });
        for (int i = 0; i < kRounds; ++i) {
            stream.dispatch(program, {x.buffer(), y.buffer()}, kCount, AffineParameters{5, Word(i)});
            device.wait_for(cuda, stream.submit());
            cuda_affine(y.span(), x.span(), 3, 1, cuda);
            stream.wait_for(device.event(cuda));
        }
        const std::vector<Word> out = stream.download(x.buffer());
        stop = true;
        cuda_load.join();
        weft_load.join();
        for (int i = 0; i < kRounds; ++i)
            for (std::size_t k = 0; k < kCount; ++k)
                expected[k] = (expected[k] * 5 + Word(i) + Word(k)) * 3 + 1;
        CHECK(out == expected);
    });
}

TEST_CASE("order: many CUDA streams, each with points of its own, more than there are kept timelines") {
    on_cuda([](weft::Backend& backend, const weft::cuda::Device& device) {
        constexpr std::size_t kStreams = 40;
        weft::Stream stream(backend);
        std::vector<std::unique_ptr<CudaStream>> streams;
        const SharedBuffer<Word> x(device, kStreams * 64);
        for (int round = 0; round < 5; ++round) {
            stream.fill(x.view(), Word(round));
            const weft::Event filled = stream.submit();
            streams.clear();
            for (std::size_t k = 0; k < kStreams; ++k) {
                streams.push_back(std::make_unique<CudaStream>());
                const CudaStream& cuda = *streams.back();
                device.wait_for(cuda, filled);
                cuda_affine(x.span(k * 64, 64), x.span(k * 64, 64), 100, Word(k), cuda);
                stream.wait_for(device.event(cuda));
            }
            device.wait_for(nullptr,
                            device.event(*streams.back()));  // CUDA after CUDA, on the default stream
            const std::vector<Word> out = stream.download(x.buffer());
            for (std::size_t k = 0; k < kStreams; ++k) CHECK(out[k * 64 + 63] == Word(round) * 100 + k);
        }
        // A point of one Device is a point for another.
        const weft::cuda::Device again(backend);
        Hold hold(*streams[0]);
        again.wait_for(*streams[1], device.event(*streams[0]));
        CHECK(cudaStreamQuery(*streams[1]) == cudaErrorNotReady);
        hold.let_go();
        need(cudaStreamSynchronize(*streams[1]));
    });
}

TEST_CASE("order: invalid uses are refused by name") {
    on_cuda([](weft::Backend& backend, const weft::cuda::Device& device) {
        const CudaStream cuda;
        weft::Stream stream(backend);
        device.wait_for(cuda, weft::Event());  // always reached
        weft::Backend other;
        weft::Stream theirs(other);
        weft::Buffer<Word> buffer(other, 4);
        theirs.fill(buffer.view(), 1);
        const weft::Event foreign = theirs.submit();
        check_error(Errc::invalid_argument, "cuda::Device::wait_for: event of another backend",
                    [&] { device.wait_for(cuda, foreign); });
        check_error(Errc::invalid_argument, "event of another backend",
                    [&] { theirs.wait_for(device.event(cuda)); });
        need(cudaStreamBeginCapture(cuda, cudaStreamCaptureModeRelaxed));
        check_error(Errc::invalid_argument, "the stream is being captured", [&] { device.event(cuda); });
        check_error(Errc::invalid_argument, "the stream is being captured",
                    [&] { device.wait_for_all(cuda); });
        cudaGraph_t graph = nullptr;
        need(cudaStreamEndCapture(cuda, &graph));
        need(cudaGraphDestroy(graph));
        stream.wait_for(device.event(cuda));
        CHECK(stream.wait(10s));
    });
}

TEST_CASE("child: a kernel that breaks the context") {
    std::optional<weft::Backend> backend = make_backend();
    REQUIRE(backend);
    const weft::cuda::Device device(*backend);
    need(cudaSetDevice(device.ordinal()));
    weft::Stream stream(*backend);
    const SharedBuffer<Word> x(device, 1000);
    cudaStream_t cuda = nullptr;
    need(cudaStreamCreate(&cuda));
    cuda_trap(cuda);
    stream.wait_for(device.event(cuda));
    stream.fill(x.view(), 3);
    // No call hangs, and no old data is returned as a result.
    check_error(Errc::device_lost, "CUDA failed and will never signal", [&] { stream.wait(); });
    check_error(Errc::device_lost, "the device was lost", [&] {
        stream.fill(x.view(), 4);
        stream.submit();
    });
}

TEST_CASE("order: if CUDA's context breaks, weft reports it instead of waiting for ever") {
    CHECK(run_case("child: a kernel that breaks the context") == 0);
}
