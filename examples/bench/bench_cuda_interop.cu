// SPDX-License-Identifier: Apache-2.0
// Measures the cost of a hand-over between weft and CUDA: small steps of weft and of CUDA alternate, ordered
// on the GPU; then the host waits at each hand-over; then the data also goes through the host. After that it
// measures the same while another CUDA stream keeps the GPU busy, and compares with hand-overs between two
// CUDA streams. weft and CUDA are two contexts, which a busy GPU serves in turns.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include <weft/cuda/interop.hpp>
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

/// Keeps every multiprocessor busy for the given time.
__global__ void spin(unsigned nanoseconds) {
    const auto now = [] {
        unsigned long long time;
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
        return time;
    };
    for (const unsigned long long begin = now(); now() - begin < nanoseconds;) {
    }
}

/// Runs such kernels without a gap on a separate CUDA stream while this object lives.
class Load {
  public:
    Load(int device, unsigned microseconds) {
        if (microseconds == 0) return;
        thread_ = std::thread([this, device, microseconds] {
            cudaStream_t stream = nullptr;
            cudaEvent_t events[2]{};
            bool good = cudaSetDevice(device) == cudaSuccess &&
                        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess;
            for (cudaEvent_t& event : events) good = good && cudaEventCreate(&event) == cudaSuccess;
            const unsigned together = std::max(1u, 2000 / microseconds);
            for (unsigned turn = 0; good && !stop_; ++turn) {
                for (unsigned k = 0; k < together; ++k) spin<<<264, 256, 0, stream>>>(1000 * microseconds);
                good = cudaEventRecord(events[turn % 2], stream) == cudaSuccess &&
                       cudaEventSynchronize(events[(turn + 1) % 2]) == cudaSuccess;
            }
            for (cudaEvent_t& event : events) cudaEventDestroy(event);
            cudaStreamDestroy(stream);
            failed_ = !good;
        });
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ~Load() {
        stop_ = true;
        if (thread_.joinable()) thread_.join();
        if (failed_) std::fprintf(stderr, "bench_cuda_interop: there was no load\n");
    }

  private:
    std::atomic<bool> stop_{false}, failed_{false};
    std::thread thread_;
};

struct Bench {
    explicit Bench(weft::Backend& backend) : cuda(backend), stream(backend) {
        require(cudaSetDevice(cuda.ordinal()));
        for (cudaStream_t* made : {&cuda_stream, &second})
            require(cudaStreamCreateWithFlags(made, cudaStreamNonBlocking));
        for (cudaEvent_t* made : {&there, &back})
            require(cudaEventCreateWithFlags(made, cudaEventDisableTiming));
    }
    ~Bench() {
        for (cudaStream_t made : {cuda_stream, second}) cudaStreamDestroy(made);
        for (cudaEvent_t made : {there, back}) cudaEventDestroy(made);
    }

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

    /// The same between two CUDA streams.
    void round_trip_within_cuda(const weft::cuda::SharedBuffer<Word>& x) {
        require(cudaMemsetAsync(x.span().data(), 0, x.bytes(), second));
        require(cudaEventRecord(there, second));
        require(cudaStreamWaitEvent(cuda_stream, there));
        add_one<<<512, 256, 0, cuda_stream>>>(x.span().data(), x.size());
        require(cudaEventRecord(back, cuda_stream));
        require(cudaStreamWaitEvent(second, back));
    }

    weft::cuda::Device cuda;
    weft::Stream stream;
    cudaStream_t cuda_stream = nullptr, second = nullptr;
    cudaEvent_t there = nullptr, back = nullptr;
    std::vector<Word> host;
};

/// The time of a round trip, measured over several in a row: the median of seven times, or of three under
/// load.
template <class Run>
double microseconds(int rounds, int runs, const Run& run) {
    std::vector<double> times;
    for (int i = 0; i < runs; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        run();
        times.push_back(
            std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2] / rounds;
}

double with_weft(Bench& bench, weft::Backend& backend, std::size_t count, How how, int rounds, int runs) {
    const weft::cuda::SharedBuffer<Word> x(bench.cuda, count);
    const weft::Buffer<Word> y(backend, count);
    return microseconds(rounds, runs, [&] {
        for (int i = 0; i < rounds; ++i) bench.round_trip(x, y, static_cast<Word>(i), how);
        const std::vector<Word> out = bench.stream.download(y);
        if (out.front() != static_cast<Word>(rounds) || out.back() != out.front())
            throw weft::Error(weft::Errc::driver, "wrong values");
    });
}

double within_cuda(Bench& bench, std::size_t count, int rounds, int runs) {
    const weft::cuda::SharedBuffer<Word> x(bench.cuda, count);
    return microseconds(rounds, runs, [&] {
        for (int i = 0; i < rounds; ++i) bench.round_trip_within_cuda(x);
        require(cudaStreamSynchronize(bench.second));
    });
}

void show_idle(Bench& bench, weft::Backend& backend, bool quick) {
    std::printf("%12s %12s %12s %12s\n", "bytes", "on the GPU", "host waits", "through host");
    for (const std::size_t count : {std::size_t{1024}, std::size_t{1} << 18, std::size_t{1} << 24}) {
        const int rounds = quick ? 5 : count > (1u << 20) ? 10 : 100;
        std::printf("%12zu", count * sizeof(Word));
        for (const How how : {How::on_gpu, How::host_waits, How::through_host})
            std::printf(" %12.1f", with_weft(bench, backend, count, how, rounds, 7));
        std::printf("\n");
        std::fflush(stdout);
    }
}

void show_loaded(Bench& bench, weft::Backend& backend, bool quick) {
    std::printf("\n4096 bytes while another CUDA stream runs kernels on all multiprocessors\n");
    std::printf("%16s %12s %12s %20s\n", "us each", "on the GPU", "host waits", "two CUDA streams");
    const int rounds = quick ? 3 : 50;
    for (const unsigned length : {0u, 20u, 200u, 1000u, 5000u}) {
        const Load load(bench.cuda.ordinal(), length);
        std::printf("%16u", length);
        for (const How how : {How::on_gpu, How::host_waits})
            std::printf(" %12.1f", with_weft(bench, backend, 1024, how, rounds, 3));
        std::printf(" %20.1f\n", within_cuda(bench, 1024, rounds, 3));
        std::fflush(stdout);
    }
}

}  // namespace

int main(int argc, char** argv) try {
    const bool quick = argc > 1 && std::string(argv[1]) == "--quick";
    weft::Backend backend;
    Bench bench(backend);
    std::printf("%s; microseconds a round trip weft, CUDA, weft; medians\n", backend.name().c_str());
    show_idle(bench, backend, quick);
    show_loaded(bench, backend, quick);
} catch (const weft::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
}
