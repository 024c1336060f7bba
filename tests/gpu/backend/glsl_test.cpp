// SPDX-License-Identifier: Apache-2.0
// GLSL that is compiled at run time gives the right results on a device.
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "support/gpu_fixture.hpp"
#include "support/scratch_folder.hpp"
#include "support/shader_jobs.hpp"

using namespace weft_test;
using Words = std::vector<std::uint32_t>;

namespace {

constexpr std::uint32_t kIndexed[] = {
#include "shaders/indexed.spv.inc"
};

/// Runs a program of indexed.comp over a job in chunks of 100, so that `first` affects the result.
bool multiplies(weft::Backend& backend, const weft::Program& program, std::uint32_t factor) {
    const Words in = words(1001);
    Words out(in.size()), want(in);
    for (std::size_t i = 0; i < want.size(); ++i)
        want[i] = want[i] * factor + static_cast<std::uint32_t>(i / 100 * 100);
    weft::Job job{{in}, {out}, in.size()};
    weft::run_batch(backend, program, {&job, 1}, {.chunk_elements = 100});
    return out == want;
}

}  // namespace

TEST_CASE("glsl: weft.glsl indexes workgroups of any shape, built with weft or compiled at run time") {
    const std::string text = read_whole(WEFT_TEST_SHADERS "/indexed.comp");
    on_device([&](weft::Backend& backend) {
        for (const std::uint32_t width : {1u, 5u, 16u}) {
            const weft::ProgramOptions options{.constants = {{0u, width}}};
            const weft::Program built(backend, kIndexed, options);
            CHECK(built.local_size() == std::array<std::uint32_t, 3>{width, 2, 3});
            CHECK(multiplies(backend, built, 3));
            for (const auto level : {weft::GlslOptimization::none, weft::GlslOptimization::size,
                                     weft::GlslOptimization::performance}) {
                const weft::Program made(
                    backend,
                    weft::compile_glsl({.text = text, .macros = {{"FACTOR", "7"}}, .optimization = level}),
                    options);
                CHECK(multiplies(backend, made, 7));
            }
        }
    });
}

TEST_CASE("glsl: a result from the disk runs like a fresh one, with debug information too") {
    const ScratchFolder folder;
    on_device([&](weft::Backend& backend) {
        for (const bool debug_info : {false, true}) {
            const weft::GlslSource source{.file = WEFT_TEST_SHADERS "/indexed.comp",
                                          .macros = {{"FACTOR", "11"}},
                                          .debug_info = debug_info,
                                          .cache = true,
                                          .cache_dir = folder.path()};
            for (const bool cached : {false, true}) {
                const weft::SpirV spirv = weft::compile_glsl(source);
                CHECK(spirv.from_cache == cached);
                const weft::Program program(backend, spirv, {.name = spirv.name, .constants = {{0u, 8u}}});
                CHECK(program.name() == source.file);
                CHECK(multiplies(backend, program, 11));
            }
        }
    });
}

TEST_CASE("glsl: a shader that weft cannot run is compiled, and refused by Program") {
    on_device([](weft::Backend& backend) {
        const weft::SpirV spirv =
            weft::compile_glsl({.text = "#version 450\nlayout(local_size_x = 8) in;\n"
                                        "layout(set = 0, binding = 0) uniform Given { uint x; } given;\n"
                                        "layout(set = 0, binding = 1) buffer Made { uint y[]; };\n"
                                        "void main() { y[0] = given.x; }\n"});
        check_error(weft::Errc::invalid_shader, "uniform buffer",
                    [&] { weft::Program program(backend, spirv); });
        check_usable(backend);
    });
}
