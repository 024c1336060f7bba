// SPDX-License-Identifier: Apache-2.0
// Streams the user's own shader (own_kernel.comp) over many jobs in ordinary host memory.
#include <weft/weft.hpp>

#include <cstdio>
#include <vector>

namespace {
constexpr std::uint32_t kSaxpy[] = {
#include "shaders/own_kernel.spv.inc"
};
}  // namespace

int main() try {
    weft::Backend backend;
    const weft::Program saxpy{
        backend, kSaxpy, {.name = "saxpy"}};  // bindings and block are read from the SPIR-V

    constexpr std::size_t kJobs = 8;
    constexpr std::size_t kElements = 500'000;
    std::vector<std::vector<float>> x(kJobs), y(kJobs);
    std::vector<weft::Job> jobs;
    for (std::size_t j = 0; j < kJobs; ++j) {
        x[j].assign(kElements + j, 2.0f);
        y[j].assign(kElements + j, static_cast<float>(j));
        jobs.push_back({.inputs = {x[j], y[j]},  // binding 0, and the initial values of binding 1
                        .outputs = {y[j]},       // binding 1 again: it is neither readonly nor writeonly
                        .elements = x[j].size(),
                        .parameters = 10.0f});
    }
    const weft::BatchReport report = weft::run_batch(backend, saxpy, jobs);

    std::size_t wrong = 0;
    for (std::size_t j = 0; j < kJobs; ++j)
        for (const float value : y[j]) wrong += value != 20.0f + static_cast<float>(j) ? 1 : 0;
    std::printf("%s: %zu jobs, %.2f ms, %.1f GB/s by path %s, %zu wrong\n", backend.name().c_str(), kJobs,
                report.wall_s * 1e3, report.gb_per_s(), weft::to_string(report.path), wrong);
    return wrong == 0 ? 0 : 1;
} catch (const weft::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
