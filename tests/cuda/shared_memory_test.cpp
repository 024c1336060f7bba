// SPDX-License-Identifier: Apache-2.0
// Memory that both sides share: values, ranges, lifetimes, leaks, refused calls.
#include <fcntl.h>
#include <unistd.h>

#include "cuda/fixture.hpp"

using namespace weft_test;
using weft::Errc;
using weft::cuda::SharedBuffer;
using Word = std::uint32_t;

TEST_CASE("SharedBuffer: each side reads what the other wrote, at sizes around every boundary") {
    on_cuda([](weft::Backend& backend, const weft::cuda::Device& device) {
        weft::Stream stream(backend);
        const CudaStream cuda;
        for (const std::size_t count : {1u, 3u, 4u, 1000u, 16384u, 524289u, 9'000'000u}) {
            CAPTURE(count);
            const SharedBuffer<Word> x(device, count, "x"), y(device, count, "y");
            const auto in = words(count);
            stream.upload(std::span<const Word>(in), x.view());
            device.wait_for(cuda, stream.submit());
            cuda_affine(x.span(), y.span(), 3, 5, cuda);
            stream.wait_for(device.event(cuda));
            const std::vector<Word> out = stream.download(y.buffer());
            bool right = true;
            for (std::size_t i = 0; i < count; ++i) right = right && out[i] == in[i] * 3 + 5;
            CHECK(right);
            CHECK(from_cuda(x.span()) == in);
        }
        const SharedBuffer<Word> empty(device, 0);
        CHECK(empty.span().empty());
        CHECK(empty.buffer().size() == 0);
    });
}

TEST_CASE("SharedBuffer: ranges of one buffer do not affect each other") {
    on_cuda([](weft::Backend& backend, const weft::cuda::Device& device) {
        weft::Stream stream(backend);
        const CudaStream cuda;
        const SharedBuffer<Word> x(device, 1000);
        stream.fill(x.view(), 7);
        stream.fill(x.view(100, 50), 9);
        device.wait_for(cuda, stream.submit());
        cuda_affine(x.span(100, 50), x.span(903, 50), 2, 0, cuda);
        stream.wait_for(device.event(cuda));
        stream.copy<Word>(x.view(903, 2), x.view(0, 2));
        const std::vector<Word> out = stream.download(x.buffer());
        for (std::size_t i = 0; i < out.size(); ++i) {
            CAPTURE(i);
            const bool nine = i >= 100 && i < 150, eighteen = i < 2 || (i >= 903 && i < 953);
            CHECK(out[i] == (nine ? 9u : eighteen ? 18u : 7u));
        }
        check_error(Errc::invalid_argument, "range beyond the end (got first 990", [&] { x.span(990, 11); });
        check_error(Errc::invalid_argument, "range beyond the end (got first 990", [&] { x.view(990, 11); });
    });
}

TEST_CASE("SharedBuffer: CUDA memory becomes a buffer of weft, whole or in part, in kernels too") {
    on_cuda([](weft::Backend& backend, const weft::cuda::Device& device) {
        weft::Stream stream(backend);
        const weft::Program program(backend, kAffine);
        const CudaStream cuda;
        const VirtualMemory memory(3 << 20);
        const auto all = memory.span<Word>();
        const SharedBuffer<Word> whole(device, all, "theirs");
        CHECK(whole.span().data() == all.data());
        const SharedBuffer<Word> part(device, all.subspan(1024, 5000));
        cuda_affine(all, all, 0, 11, cuda);
        stream.wait_for(device.event(cuda));
        stream.dispatch(program, {part.buffer(), whole.view(100'000, 5000)}, 5000, AffineParameters{2, 1});
        device.wait_for(cuda, stream.submit());
        cuda_affine(all, all, 1, 1, cuda);
        need(cudaStreamSynchronize(cuda));
        const std::vector<Word> out = from_cuda(all);
        bool right = true;
        for (std::size_t i = 0; i < out.size(); ++i) {
            const bool made = i >= 100'000 && i < 105'000;
            right = right && out[i] == (made ? 2 * 11 + 1 + Word(i - 100'000) + 1 : 12);
        }
        CHECK(right);
    });
}

TEST_CASE("SharedBuffer: two contiguous allocations are shared separately, or refused") {
    on_cuda([](weft::Backend& backend, const weft::cuda::Device& device) {
        weft::Stream stream(backend);
        const VirtualMemory memory(2 << 20, true, 2);
        const auto all = memory.span<Word>();
        const std::size_t half = all.size() / 2;
        cuda_affine(all.subspan(0, half), all.subspan(0, half), 0, 1, nullptr);
        cuda_affine(all.subspan(half, half), all.subspan(half, half), 0, 2, nullptr);
        need(cudaDeviceSynchronize());
        for (const std::size_t part : {0u, 1u}) {
            CAPTURE(part);
            const SharedBuffer<Word> shared(device, all.subspan(part * half, half));
            CHECK(stream.download(shared.buffer()) == std::vector<Word>(half, Word(part + 1)));
        }
        CHECK_THROWS_AS(SharedBuffer<Word>(device, all), weft::Error);
        CHECK_THROWS_AS(SharedBuffer<Word>(device, all.subspan(half - 8, 16)), weft::Error);
    });
}

TEST_CASE("SharedBuffer: either side may release it first") {
    on_cuda([](weft::Backend& backend, const weft::cuda::Device& device) {
        weft::Stream stream(backend);
        const weft::Program program(backend, kAffine);
        const CudaStream cuda;
        const auto in = words(100'000);
        weft::Buffer<Word> kept(backend, in.size());
        {
            SharedBuffer<Word> x(device, in.size());
            need(cudaMemcpyAsync(x.span().data(), in.data(), x.bytes(), cudaMemcpyDefault, cuda));
            stream.wait_for(device.event(cuda));
            stream.dispatch(program, {x.buffer(), kept}, in.size(), AffineParameters{1, 0});
        }  // the step is only recorded; the stream keeps the buffer
        std::vector<Word> out = stream.download(kept);
        CHECK(out[77] == in[77] + 77);
        auto memory = std::make_unique<VirtualMemory>(4 << 20);
        const SharedBuffer<Word> imported(device, memory->span<Word>().subspan(0, in.size()));
        cuda_affine(memory->span<Word>(), memory->span<Word>(), 0, 3, cuda);
        stream.wait_for(device.event(cuda));
        need(cudaStreamSynchronize(cuda));
        memory.reset();  // weft's import keeps the allocation
        CHECK(stream.download(imported.buffer())[99'999] == 3);
        {
            const SharedBuffer<Word> busy(device, 1 << 20);
            cuda_spin(20'000'000, cuda);
            cuda_affine(busy.span(), busy.span(), 1, 1, cuda);
        }  // while CUDA works on it
        need(cudaStreamSynchronize(cuda));
    });
}

TEST_CASE("SharedBuffer: outlives Backend and Device") {
    std::optional<weft::Backend> backend = make_backend();
    REQUIRE(backend);
    std::optional<weft::cuda::Device> device(std::in_place, *backend);
    need(cudaSetDevice(device->ordinal()));
    const SharedBuffer<Word> x(*device, 1000);
    backend.reset();
    device.reset();
    const CudaStream cuda;
    need(cudaMemsetAsync(x.span().data(), 1, x.bytes(), cuda));
    need(cudaStreamSynchronize(cuda));
    CHECK(from_cuda(x.span())[999] == 0x01010101u);
}

TEST_CASE("import_fd: takes the descriptor on success only") {
    on_cuda([](weft::Backend& backend, const weft::cuda::Device& device) {
        const VirtualMemory memory(2 << 20);
        const auto span = memory.span<Word>();
        need(cudaMemset(span.data(), 2, memory.bytes()));
        const int fd = memory.export_fd();
        check_error(Errc::invalid_argument, "does not fit its allocation", [&] {
            weft::cuda::import_fd<Word>(device, fd, memory.bytes(), 0, memory.bytes() / 4 + 1);
        });
        check_error(Errc::invalid_argument, "does not fit its allocation",
                    [&] { weft::cuda::import_fd<Word>(device, fd, memory.bytes(), 2, 1); });
        CHECK(fcntl(fd, F_GETFD) >= 0);
        {
            const auto buffer = weft::cuda::import_fd<Word>(device, fd, memory.bytes(), 4096, 1000);
            CHECK(fcntl(fd, F_GETFD) == -1);
            weft::Stream stream(backend);
            CHECK(stream.download(buffer) == std::vector<Word>(1000, 0x02020202u));
        }
        check_error(Errc::invalid_argument, "no open file descriptor (got -1)",
                    [&] { weft::cuda::import_fd<Word>(device, -1, memory.bytes(), 0, 1); });
        const int pipe_like = open("/dev/null", O_RDWR | O_CLOEXEC);
        CHECK_THROWS_AS(weft::cuda::import_fd<Word>(device, pipe_like, memory.bytes(), 0, 1), weft::Error);
        CHECK(fcntl(pipe_like, F_GETFD) >= 0);
        close(pipe_like);
    });
}

TEST_CASE("SharedBuffer: memory that cannot be shared is refused by name") {
    on_cuda([](weft::Backend&, const weft::cuda::Device& device) {
        const auto refused = [&](Errc code, const char* part, void* pointer, std::size_t count) {
            check_error(code, part, [&] {
                const SharedBuffer<Word> wrong(device,
                                               weft::cuda::DeviceSpan(static_cast<Word*>(pointer), count));
            });
        };
        void* plain = nullptr;
        need(cudaMalloc(&plain, 1 << 20));
        refused(Errc::unsupported, "need it from cuMemCreate", plain, 100);
        need(cudaFree(plain));
        std::vector<Word> host(100);
        refused(Errc::invalid_argument, "no CUDA memory", host.data(), 100);
        refused(Errc::invalid_argument, "no CUDA memory", nullptr, 100);
        const VirtualMemory closed(2 << 20, false), open(2 << 20);
        refused(Errc::unsupported, "need it from cuMemCreate", closed.span<Word>().data(), 100);
        refused(Errc::invalid_argument, "range beyond its allocation", open.span<Word>().data(),
                open.bytes() / 4 + 1);
        refused(Errc::invalid_argument, "need a multiple of", open.span<Word>().data() + 1, 100);
        refused(Errc::invalid_argument, "range beyond its allocation", open.span<Word>().data(),
                ~std::size_t{0} / 4);
        check_error(Errc::invalid_argument, "too many elements",
                    [&] { const SharedBuffer<Word> huge(device, ~std::size_t{0}); });
        SharedBuffer<Word> from(device, 10);
        const SharedBuffer<Word> to = std::move(from);
        CHECK(from.size() == 0);  // NOLINT(bugprone-use-after-move)
        check_error(Errc::invalid_argument, "used after it was moved from", [&] { from.span(); });
        check_error(Errc::invalid_argument, "used after it was moved from", [&] { from.view(); });
        weft::cuda::Device other = device;
        const weft::cuda::Device moved = std::move(other);
        check_error(Errc::invalid_argument, "used after it was moved from", [&] { other.ordinal(); });
    });
}

TEST_CASE("sharing leaves no descriptor and no memory behind") {
    on_cuda([](weft::Backend& backend, const weft::cuda::Device&) {
        const VirtualMemory theirs(8 << 20);
        weft::Stream stream(backend);
        const auto once = [&](int i) {
            const weft::cuda::Device again(backend);
            const CudaStream cuda;
            const SharedBuffer<Word> mine(again, (8 << 20) / 4);
            const SharedBuffer<Word> imported(again, theirs.span<Word>());
            cuda_affine(imported.span(), mine.span(), 1, Word(i), cuda);
            stream.wait_for(again.event(cuda));
            stream.copy<Word>(mine.view(0, 16), imported.view(16, 16));
            again.wait_for(cuda, stream.submit());
            CHECK_THROWS_AS(SharedBuffer<Word>(again, ~std::size_t{0} / 16), weft::Error);
            stream.wait();
        };
        const auto free_bytes = [] {
            std::size_t free = 0, total = 0;
            need(cudaDeviceSynchronize());
            need(cudaMemGetInfo(&free, &total));
            return free;
        };
        for (int i = 0; i < 20; ++i) once(i);
        const std::size_t descriptors = open_descriptors(), before = free_bytes();
        for (int i = 0; i < 300; ++i) once(i);
        CHECK(open_descriptors() == descriptors);
        const std::size_t after = free_bytes();
        CAPTURE(before);
        CAPTURE(after);
        CHECK(after + (64u << 20) > before);  // 300 times 8 MiB would be 2.3 GiB
    });
}
