// SPDX-License-Identifier: Apache-2.0
// Compiles a shader at run time, with a macro, and streams jobs through it. glsl_kernel [FILE]
#include <weft/weft.hpp>

#include <cstdio>
#include <filesystem>
#include <vector>

namespace {
constexpr std::uint32_t kMaxSteps = 500;

std::uint32_t steps_on_host(std::uint32_t n) {
    std::uint32_t taken = 0;
    for (; n != 1 && taken < kMaxSteps; ++taken) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    return taken;
}
}  // namespace

int main(int argc, char** argv) try {
    // The build puts the shader beside the program, so that it is found from any folder.
    const std::filesystem::path beside = std::filesystem::path(argv[0]).replace_filename("glsl_kernel.comp");
    const weft::SpirV spirv = weft::compile_glsl(
        {.file = argc > 1 ? argv[1] : beside.string(), .macros = {{"MAX_STEPS", std::to_string(kMaxSteps)}}});
    if (!spirv.warnings.empty()) std::fprintf(stderr, "%s\n", spirv.warnings.c_str());

    weft::Backend backend;
    const weft::Program program{backend, spirv, {.name = spirv.name}};
    constexpr std::size_t kJobs = 4, kElements = 100'000;
    std::vector<std::vector<std::uint32_t>> starts(kJobs), steps(kJobs);
    std::vector<weft::Job> jobs;
    for (std::size_t j = 0; j < kJobs; ++j) {
        for (std::size_t i = 0; i < kElements; ++i)
            starts[j].push_back(static_cast<std::uint32_t>(1 + j * kElements + i));
        steps[j].resize(kElements);
        jobs.push_back({.inputs = {starts[j]}, .outputs = {steps[j]}, .elements = kElements});
    }
    const weft::BatchReport report = weft::run_batch(backend, program, jobs);

    std::size_t wrong = 0;
    for (std::size_t j = 0; j < kJobs; ++j)
        for (std::size_t i = 0; i < kElements; ++i)
            wrong += steps[j][i] != steps_on_host(starts[j][i]) ? 1 : 0;
    std::printf("%s, %s: %zu words%s, %zu jobs in %.2f ms, %zu wrong\n", backend.name().c_str(),
                spirv.name.c_str(), spirv.words.size(), spirv.from_cache ? " from the cache" : "", kJobs,
                report.wall_s * 1e3, wrong);
    return wrong == 0 ? 0 : 1;
} catch (const weft::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
