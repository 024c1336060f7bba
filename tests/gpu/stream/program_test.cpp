// SPDX-License-Identifier: Apache-2.0
// Shaders that cannot run, and which programs share a pipeline.
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/gpu_fixture.hpp"
#include "support/shader_jobs.hpp"

using namespace weft_test;
using weft::Errc;
using weft::Program;
using Words = std::vector<std::uint32_t>;

namespace {

constexpr std::uint32_t kUniformBuffer[] = {
#include "shaders/uniform_buffer.spv.inc"
};
constexpr std::uint32_t kLargeBlock[] = {
#include "shaders/large_block.spv.inc"
};
constexpr std::uint32_t kFarBinding[] = {
#include "shaders/far_binding.spv.inc"
};
constexpr std::uint32_t kAtomicInt64[] = {
#include "shaders/atomic_int64.spv.inc"
};
constexpr std::uint32_t kStrided[] = {
#include "shaders/strided.spv.inc"
};

Words affine() {
    return {std::begin(kAffine), std::end(kAffine)};
}

}  // namespace

TEST_CASE("program: words that are not SPIR-V are refused with the reason") {
    on_device([](weft::Backend& backend) {
        const auto refused = [&](const Words& spirv, const char* part) {
            check_error(Errc::invalid_shader, part, [&] { Program program(backend, spirv); });
        };
        refused({}, "got 0 words");
        refused({0x07230203}, "got 1 words");
        Words swapped = affine();
        swapped[0] = 0x03022307;
        refused(swapped, "byte-swapped");
        Words magic = affine();
        magic[0] = 0x12345678;
        refused(magic, "got 0x12345678");
        Words text(64);
        std::memcpy(text.data(), "#version 460\nlayout(local_size_x = 64) in;\nvoid main() {}\n", 58);
        refused(text, "looks like text");
        check_usable(backend);
    });
}

TEST_CASE("program: SPIR-V cut off at any word is refused and harms nothing") {
    on_device([](weft::Backend& backend) {
        const Words whole = affine();
        for (std::size_t length = 0; length < whole.size(); ++length) {
            CAPTURE(length);
            const Words cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
            check_error(Errc::invalid_shader, "Program", [&] { Program program(backend, cut); });
        }
        check_usable(backend);
    });
}

TEST_CASE("program: interface beyond what weft or the device offers") {
    on_device([](weft::Backend& backend) {
        check_error(Errc::invalid_shader, "no entry point 'other'",
                    [&] { Program program(backend, kAffine, {.entry = "other"}); });
        check_error(Errc::invalid_shader, "uniform buffer",
                    [&] { Program program(backend, kUniformBuffer); });
        check_error(Errc::invalid_shader, "got 520", [&] { Program program(backend, kLargeBlock); });
        check_error(Errc::invalid_shader, "got binding 16", [&] { Program program(backend, kFarBinding); });
        check_error(Errc::unsupported, "Int64Atomics", [&] { Program program(backend, kAtomicInt64); });
        check_error(Errc::invalid_argument, "99", [&] {
            Program program(backend, kStrided, {.constants = {{99u, 1u}}});
        });
        const std::uint32_t axis = backend.device().limits.max_workgroup_size[0];
        check_error(Errc::invalid_shader, "got " + std::to_string(axis + 1), [&] {
            Program program(backend, kStrided, {.constants = {{0u, axis + 1}}});
        });
        check_error(Errc::invalid_shader, "0", [&] {
            Program program(backend, kStrided, {.constants = {{0u, 0u}}});
        });
        const std::uint32_t workgroups = backend.device().limits.max_workgroup_count[0];
        if (workgroups < 0xffffffffu)
            check_error(Errc::invalid_argument, "got " + std::to_string(workgroups + 1),
                        [&] { Program program(backend, kStrided, {.max_workgroups = workgroups + 1}); });
        check_usable(backend);
    });
}

TEST_CASE("program: reflection reports what the shader declares") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kAffine, {.name = "affine"});
        CHECK(program.name() == "affine");
        REQUIRE(program.bindings().size() == 2);
        CHECK(program.bindings()[0].access == weft::Access::read);
        CHECK(program.bindings()[1].access == weft::Access::write);
        CHECK(program.push_constant_bytes() == 16);
        CHECK(program.local_size() == std::array<std::uint32_t, 3>{64, 1, 1});
    });
}

TEST_CASE("program: constants change workgroup size and result; max_workgroups lets a shader loop") {
    on_device([](weft::Backend& backend) {
        for (const std::uint32_t size : {1u, 7u, 64u})
            for (const std::uint32_t factor : {3u, 10u})
                for (const std::uint32_t workgroups : {0u, 1u, 3u}) {
                    const Program program(
                        backend, kStrided,
                        {.constants = {{1u, factor}, {0u, size}}, .max_workgroups = workgroups});
                    CHECK(program.local_size()[0] == size);
                    const Words in = words(1001);
                    Words out(in.size()), want(in);
                    for (std::uint32_t& v : want) v *= factor;
                    weft::Job job{{in}, {out}, in.size()};
                    weft::run_batch(backend, program, {&job, 1});
                    CHECK(out == want);
                }
        CHECK(backend.pipelines().created == 6);
    });
}

TEST_CASE("program: the same shader is one pipeline, also if many threads make it simultaneously") {
    on_device([](weft::Backend& backend) {
        const auto before = backend.pipelines().created;
        std::vector<std::thread> threads;
        std::vector<int> right(8);
        for (std::size_t t = 0; t < right.size(); ++t)
            threads.emplace_back([&backend, &right, t] {
                for (std::uint32_t size = 1; size <= 8; ++size) {
                    const Program program(backend, kStrided, {.constants = {{0u, size}}});
                    const Program again(backend, kAffine);
                    AffineWork work({100 + 10 * t}, static_cast<std::uint32_t>(t));
                    weft::run_batch(backend, again, work.jobs);
                    if (program.local_size()[0] == size && work.right()) ++right[t];
                }
            });
        for (std::thread& thread : threads) thread.join();
        CHECK(right == std::vector<int>(8, 8));
        CHECK(backend.pipelines().created - before == 9);
    });
}

TEST_CASE("program: after a failure, the same words are checked again") {
    on_device([](weft::Backend& backend) {
        const auto before = backend.pipelines();
        for (int i = 0; i < 3; ++i)
            check_error(Errc::unsupported, "Int64Atomics", [&] { Program program(backend, kAtomicInt64); });
        const auto after = backend.pipelines();
        CHECK(after.created == before.created);
        CHECK(after.reused == before.reused);
    });
}
