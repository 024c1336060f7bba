// SPDX-License-Identifier: Apache-2.0
// The shortest check that a machine works: two jobs of 4096 additions, sequential and then pipelined.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include <weft/weft.hpp>

namespace {

using Limbs = std::vector<std::uint64_t>;
constexpr std::size_t kJobs = 2, kElements = 4096;
constexpr std::uint64_t kP[6] = {0xb9feffffffffaaab, 0x1eabfffeb153ffff, 0x6730d2a0f6b0f624,
                                 0x64774b84f38512bf, 0x4b1ba7b6434bacd7, 0x1a0111ea397fe69a};

Limbs random_elements(std::mt19937_64& random) {
    Limbs limbs(kElements * 6);
    for (std::size_t i = 0; i < limbs.size(); ++i) limbs[i] = i % 6 == 5 ? random() % kP[5] : random();
    return limbs;
}

// x + y, minus p if that leaves no borrow.
void add_reference(const std::uint64_t* x, const std::uint64_t* y, std::uint64_t* out) {
    __extension__ using Wide = __int128;
    std::uint64_t reduced[6];
    Wide sum = 0, difference = 0;
    for (int i = 0; i < 6; ++i) {
        sum = static_cast<Wide>(x[i]) + y[i] + (sum >> 64);
        out[i] = static_cast<std::uint64_t>(sum);
        difference = static_cast<Wide>(out[i]) - kP[i] + (difference >> 64);
        reduced[i] = static_cast<std::uint64_t>(difference);
    }
    if (difference >= 0) std::copy_n(reduced, 6, out);
}

double run(weft::Backend& backend, const std::vector<weft::FieldJob>& jobs, weft::BatchMode mode) {
    const auto start = std::chrono::steady_clock::now();
    weft::field_batch(backend, weft::Field::bls12_381_fp, weft::FieldOp::add, jobs,
                      {.batch = {.mode = mode}});
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main() try {
    weft::Backend backend;
    std::mt19937_64 random(1);
    std::vector<Limbs> a, b, want(kJobs, Limbs(kElements * 6)), sequential = want, pipelined = want;
    std::vector<weft::FieldJob> one_by_one, overlapped;
    for (std::size_t j = 0; j < kJobs; ++j) {
        a.push_back(random_elements(random));
        b.push_back(random_elements(random));
        for (std::size_t i = 0; i < kElements * 6; i += 6) add_reference(&a[j][i], &b[j][i], &want[j][i]);
    }
    for (std::size_t j = 0; j < kJobs; ++j) {
        one_by_one.push_back({.a = a[j], .b = b[j], .out = sequential[j]});
        overlapped.push_back({.a = a[j], .b = b[j], .out = pipelined[j]});
    }
    std::printf("%s: %zu jobs of %zu elements\n", backend.name().c_str(), kJobs, kElements);
    std::printf("first call  %8.3f ms\n", run(backend, one_by_one, weft::BatchMode::sequential));
    std::printf("sequential  %8.3f ms\n", run(backend, one_by_one, weft::BatchMode::sequential));
    std::printf("pipelined   %8.3f ms\n", run(backend, overlapped, weft::BatchMode::pipelined));
    const bool right = sequential == want && pipelined == want;
    std::printf("%s\n", right ? "results equal and right" : "WRONG RESULTS");
    return right ? 0 : 1;
} catch (const weft::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
