// SPDX-License-Identifier: Apache-2.0
// What a hand-over between weft and CUDA costs: a small step of weft's, one of CUDA's, and so on, ordered on
// the GPU; the same with the host waiting at each hand-over; and with the data taken through the host
// besides.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include <weft/cuda.hpp>
#include <weft/weft.hpp>

namespace {

using Word = std::uint32_t;
enum class How { on_gpu, host_waits, through_host };

void require(cudaError_t result) {
    if (result != cudaSuccess) throw weft::Error(weft::Errc::driver, cudaGetErrorString(result), result);
}

__global__ void add_one(Word* x, std::size_t count) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) ++x[i];
}

struct Bench {
    explicit Bench(weft::Backend& backend) : cuda(backend), stream(backend) {
        require(cudaSetDevice(cuda.ordinal()));
        require(cudaStreamCreate(&cuda_stream));
    }
    ~Bench() { cudaStreamDestroy(cuda_stream); }

    /// weft fills with `round`, CUDA adds one, weft copies to `y`.
    void round_trip(const weft::cuda::SharedBuffer<Word>& x, const weft::Buffer<Word>& y, Word round,
                    How how) {
        stream.fill(x.view(), round);
        if (how == How::on_gpu)
            cuda.wait_for(cuda_stream, stream.submit());
        else
            stream.wait();
        if (how == How::through_host) {
            host.resize(x.size());
            stream.download<Word>(x.view(), host);
            require(cudaMemcpyAsync(x.span().data(), host.data(), x.bytes(), cudaMemcpyDefault, cuda_stream));
        }
        add_one<<<512, 256, 0, cuda_stream>>>(x.span().data(), x.size());
        if (how == How::on_gpu)
            stream.wait_for(cuda.event(cuda_stream));
        else
            require(cudaStreamSynchronize(cuda_stream));
        stream.copy<Word>(x.view(), y.view());
    }

    weft::cuda::Device cuda;
    weft::Stream stream;
    cudaStream_t cuda_stream = nullptr;
    std::vector<Word> host;
};

double microseconds(Bench& bench, weft::Backend& backend, std::size_t count, How how, int rounds) {
    const weft::cuda::SharedBuffer<Word> x(bench.cuda, count);
    const weft::Buffer<Word> y(backend, count);
    std::vector<double> times;
    for (int run = 0; run < 7; ++run) {
        bench.stream.wait();
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < rounds; ++i) bench.round_trip(x, y, static_cast<Word>(i), how);
        bench.stream.wait();
        times.push_back(
            std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
        const std::vector<Word> out = bench.stream.download(y);
        if (out.front() != static_cast<Word>(rounds) || out.back() != out.front())
            throw weft::Error(weft::Errc::driver, "wrong values");
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2] / rounds;
}

}  // namespace

int main(int argc, char** argv) try {
    const bool quick = argc > 1 && std::string(argv[1]) == "--quick";
    weft::Backend backend;
    Bench bench(backend);
    std::printf("%s; microseconds a round trip weft, CUDA, weft; medians of 7\n", backend.name().c_str());
    std::printf("%12s %12s %12s %12s\n", "bytes", "on the GPU", "host waits", "through host");
    for (const std::size_t count : {std::size_t{1024}, std::size_t{1} << 18, std::size_t{1} << 24}) {
        const int rounds = quick ? 5 : count > (1u << 20) ? 20 : 200;
        std::printf("%12zu", count * sizeof(Word));
        for (const How how : {How::on_gpu, How::host_waits, How::through_host})
            std::printf(" %12.1f", microseconds(bench, backend, count, how, rounds));
        std::printf("\n");
    }
} catch (const weft::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
}
