// SPDX-License-Identifier: Apache-2.0
// One operation on arrays of the same contents on both back ends, timed by the device's clock on each.
#pragma once

#include <algorithm>
#include <complex>
#include <cstring>
#include <memory>
#include <span>

#include "bench_race.hpp"
#include "cpu/cpu_threads.hpp"

namespace bench {

/// Seconds by the device's clock from the first command of a sequence to the end of its last. Make it after
/// the sequence: of what is recorded while a profile listens, each step is timed, which takes time.
class VulkanClock {
  public:
    explicit VulkanClock(weft::Backend& backend) : profile_(backend) {}
    double time_replay(weft::Stream& stream, const weft::Sequence& sequence) const {
        const double before = busy();
        stream.replay(sequence);
        stream.wait();
        return busy() - before;
    }

  private:
    double busy() const { return profile_.report().stage(weft::Stage::kernel).busy_s; }
    weft::Profile profile_;
};

/// Seconds by the device's clock of what a function puts on CUDA's default stream.
class CudaClock {
  public:
    CudaClock() {
        cuda_check(cudaEventCreate(&begin_));
        cuda_check(cudaEventCreate(&end_));
    }
    CudaClock(CudaClock&&) = delete;
    ~CudaClock() {
        static_cast<void>(cudaEventDestroy(begin_));
        static_cast<void>(cudaEventDestroy(end_));
    }
    template <class Launch>
    double time(const Launch& launch) {
        cuda_check(cudaEventRecord(begin_));
        launch();
        cuda_check(cudaEventRecord(end_));
        cuda_check(cudaEventSynchronize(end_));
        float ms = 0;
        cuda_check(cudaEventElapsedTime(&ms, begin_, end_));
        return ms / 1e3;
    }

  private:
    cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

/// act(first, last) over parts of [0, count) on all cores; rethrows what one of them threw.
template <class Act>
void in_parallel(std::size_t count, const Act& act) {
    weft::tool::parallel_for(count, std::size_t{1} << 14, weft::tool::cpu_threads(), act);
}

template <class T>
double distance(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return static_cast<double>(a < b ? b - a : a - b);
    if constexpr (std::is_integral_v<T>) return a == b ? 0.0 : 1.0;
    if constexpr (std::is_same_v<T, weft::c32>)
        return std::max(distance(a.real(), b.real()), distance(a.imag(), b.imag()));
}

/// An array that both back ends have.
template <class T>
struct Twin {
    Twin(weft::Backend& backend, std::size_t size) : vulkan(backend, size), cuda(size) {}
    Twin(weft::Backend& backend, weft::Stream& stream, const std::vector<T>& values)
        : Twin(backend, values.size()) {
        stream.upload(values, vulkan);
        cuda_check(cudaMemcpy(cuda.span().data(), values.data(), vulkan.bytes(), cudaMemcpyHostToDevice));
    }
    weft::Buffer<T> vulkan;
    CudaArray<T> cuda;
};

/// Page-locked arrays that results are brought to.
template <class T>
struct Results {
    Results(weft::Backend& backend, std::size_t size) : vulkan(backend, size), cuda(size) {}
    weft::HostBuffer<T> vulkan;
    Locked<T> cuda;
};

/// `block` again and again.
template <class T>
std::vector<T> repeated(const std::vector<T>& block, std::size_t size) {
    std::vector<T> values(size);
    for (std::size_t i = 0; i < size; i += block.size())
        std::copy_n(block.begin(), std::min(block.size(), size - i),
                    values.begin() + static_cast<std::ptrdiff_t>(i));
    return values;
}

/// What `vulkan` and `cuda` left in `out` of either back end: the same up to `bound`, and right to `judge`.
template <class T>
void verify_twins(weft::Stream& stream, const Twin<T>& out, const Results<T>& results, double bound,
                  const std::function<void(std::span<const T>)>& judge) {
    const std::size_t size = out.vulkan.size();
    stream.copy(out.vulkan.view(), results.vulkan.view(0, size));
    stream.wait();
    cuda_check(
        cudaMemcpy(results.cuda.data, out.cuda.span().data(), size * sizeof(T), cudaMemcpyDeviceToHost));
    const std::span<const T> a(results.vulkan.data(), size), b(results.cuda.data, size);
    in_parallel(size, [&](std::size_t first, std::size_t last) {
        if (std::memcmp(&a[first], &b[first], (last - first) * sizeof(T)) == 0) return;
        for (std::size_t i = first; i < last; ++i)
            if (!(distance(a[i], b[i]) <= bound))
                throw std::runtime_error("element " + std::to_string(i) + " differs between the back ends");
    });
    if (judge) judge(a);
}

/// What a row of the race is about.
template <class T>
struct Operation {
    std::string row;
    double bytes = 0;  ///< read and written by one run
    std::function<void(weft::Stream&)> on_vulkan;
    std::function<void()> on_cuda;
    double bound = 0;  ///< between results of the two
    std::function<void(std::span<const T>)> judge{};
};

/// Runs it several times in a row, in one submission on Vulkan, so that starting the first counts for little.
template <class T>
void race_twins(weft::Backend& backend, const Settings& settings, weft::Stream& stream, const Twin<T>& out,
                const Results<T>& results, const Operation<T>& operation) {
    constexpr int kRepeats = 4;
    // Not the same on both, so that what neither writes is found.
    stream.fill(out.vulkan.view(), 0x5a5a5a5au);
    stream.wait();
    cuda_check(cudaMemset(out.cuda.span().data(), 0xa5, out.vulkan.bytes()));
    const weft::Sequence all = stream.record([&](weft::Stream& s) {
        for (int r = 0; r < kRepeats; ++r) operation.on_vulkan(s);
    });
    VulkanClock vulkan_clock(backend);
    CudaClock cuda_clock;
    const auto vulkan = [&] { return vulkan_clock.time_replay(stream, all); };
    const auto cuda = [&] {
        return cuda_clock.time([&] {
            for (int r = 0; r < kRepeats; ++r) operation.on_cuda();
        });
    };
    const auto verify = [&] { verify_twins(stream, out, results, operation.bound, operation.judge); };
    race(settings, operation.row, kRepeats * operation.bytes, 0,
         {{"weft Vulkan", vulkan, [] {}}, {"weft CUDA", cuda, verify}});
}

}  // namespace bench
