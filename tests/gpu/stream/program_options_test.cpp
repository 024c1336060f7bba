// SPDX-License-Identifier: Apache-2.0
// Workgroups in rows, workgroup and subgroup size by option, and what a program reports about itself.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "support/gpu_fixture.hpp"
#include "support/shader_jobs.hpp"

using namespace weft_test;
using weft::Buffer;
using weft::Errc;
using weft::Program;
using weft::Stream;
using Words = std::vector<std::uint32_t>;
using Size = std::array<std::uint32_t, 3>;

namespace {

constexpr std::uint32_t kFolded[] = {
#include "shaders/folded.spv.inc"
};
constexpr std::uint32_t kSubgroup[] = {
#include "shaders/subgroup.spv.inc"
};
constexpr std::uint32_t kStrided[] = {
#include "shaders/strided.spv.inc"
};
constexpr std::uint32_t kLargeBlock[] = {
#include "shaders/large_block.spv.inc"
};

/// The number of elements that needs slightly more than one row if a workgroup takes two of them; 0 if the x
/// axis is so long that no test can exceed it.
std::uint64_t past_one_row(const weft::Backend& backend) {
    const std::uint64_t most = backend.device().limits.max_workgroup_count[0];
    return most <= (1u << 20) ? 2 * most + 3 : 0;
}

Words folded_result(const Words& in, const Words& before) {
    Words want(before);
    for (std::size_t i = 0; i < in.size(); ++i) want[i] += 3 * in[i] + 1;
    return want;
}

}  // namespace

TEST_CASE("program: a binding that is read after it was written counts as written, if requested") {
    on_device([](weft::Backend& backend) {
        const Program usual(backend, kFolded), written(backend, kFolded, {.written_first = {1}});
        CHECK(usual.bindings()[1].access == weft::Access::read_write);
        CHECK(written.bindings()[1].access == weft::Access::write);
        CHECK(Program(backend, kFolded).bindings()[1].access == weft::Access::read_write);
        for (const std::uint32_t number : {0u, 7u})
            check_error(Errc::invalid_argument, "names no binding the shader writes",
                        [&] { Program(backend, kFolded, {.written_first = {number}}); });
    });
}

TEST_CASE("program: a dispatch past the x axis continues in rows and processes each element once") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kFolded);
        CHECK(program.folds());
        CHECK(program.local_size() == Size{1, 1, 2});
        const std::uint64_t past = past_one_row(backend);
        if (past == 0) return;
        for (const std::uint64_t elements : {past - 4, past - 3, past, 2 * past}) {
            CAPTURE(elements);
            const Words in = words(elements), before = words(elements + 64, 9);
            Buffer<std::uint32_t> x(backend, in.size()), y(backend, before.size());
            Stream stream(backend);
            stream.upload(in, x);
            stream.upload(before, y);
            stream.dispatch(program, {x, y}, elements);
            CHECK(stream.download(y) == folded_result(in, before));  // words after the last do not change
        }
    });
}

TEST_CASE("program: a batch folds too, in one chunk if requested") {
    on_device([](weft::Backend& backend) {
        const std::uint64_t past = past_one_row(backend);
        if (past == 0) return;
        const Words in = words(past);
        Words out = words(past, 9);
        const Words want = folded_result(in, out);
        weft::Job job{{in, out}, {out}, past};
        const auto report =
            weft::run_batch(backend, Program(backend, kFolded), {&job, 1}, {.chunk_elements = past});
        CHECK(report.chunks == 1);
        CHECK(out == want);
    });
}

TEST_CASE("program: a shader that uses one axis is refused past its end, with the solutions") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kAffine, {.name = "affine", .elements_per_workgroup = 1});
        CHECK_FALSE(program.folds());
        CHECK_FALSE(Program(backend, kStrided).folds());
        const std::uint64_t most = backend.device().limits.max_workgroup_count[0];
        if (most >= 0xffffffffu) return;
        Buffer<std::uint32_t> a(backend, 16), b(backend, 16);
        Stream stream(backend);
        check_error(Errc::invalid_argument,
                    "program \"affine\" needs more workgroups than the device allows on the x axis (got " +
                        std::to_string(most + 1) + ", need " + std::to_string(most) +
                        " at most; take the index from weft_index() of weft.glsl, which reads both axes, "
                        "raise ProgramOptions::elements_per_workgroup or set max_workgroups)",
                    [&] {
                        stream.dispatch(program, {a, b}, most + 1, AffineParameters{1, 0});
                    });
        // For a shader that folds, the bound on workgroups is the product of both axes.
        if (most > (1u << 20)) return;
        const Program bounded(backend, kFolded, {.max_workgroups = static_cast<std::uint32_t>(most + 1)});
        CHECK(bounded.folds());
        check_usable(backend);
    });
}

TEST_CASE("program: local_size sets what the shader leaves open") {
    on_device([](weft::Backend& backend) {
        const Words in = words(1001);
        for (const Size size : {Size{8, 4, 0}, Size{32, 0, 2}, Size{0, 16, 0}, Size{64, 2, 2}}) {
            const Program program(backend, kFolded, {.local_size = size});
            const Size actual = program.local_size();
            CHECK(actual == Size{std::max(size[0], 1u), std::max(size[1], 1u), 2});
            Words out = words(in.size(), 5);
            const Words want = folded_result(in, out);
            weft::Job job{{in, out}, {out}, in.size()};
            weft::run_batch(backend, program, {&job, 1});
            CHECK(out == want);
        }
        const auto before = backend.pipelines().created;
        const Program again(backend, kFolded, {.local_size = {64, 2, 2}});
        CHECK(backend.pipelines().created == before);
    });
}

TEST_CASE("program: impossible workgroup sizes are refused before they reach the driver") {
    on_device([](weft::Backend& backend) {
        const auto& limits = backend.device().limits;
        check_error(Errc::invalid_argument, "local_size along z, which the shader fixes (got 4, need 2, or",
                    [&] {
                        Program program(backend, kFolded, {.local_size = {0, 0, 4}});
                    });
        check_error(Errc::invalid_argument, "local_size along x, which the shader fixes (got 32, need 64, or",
                    [&] {
                        Program program(backend, kAffine, {.local_size = {32, 0, 0}});
                    });
        check_error(Errc::invalid_shader, "workgroup size with a 0 (got 0 x 1 x 2", [&] {
            Program program(backend, kFolded, {.constants = {{5u, 0u}}});
        });
        const std::uint32_t most = limits.max_workgroup_invocations;
        const std::string product =
            "invocations of a workgroup beyond the limit of the device (got " + std::to_string(2 * most);
        if (limits.max_workgroup_size[0] >= most)
            check_error(Errc::invalid_shader, product, [&] {
                Program program(backend, kFolded, {.local_size = {most, 1, 0}});
            });
        // These products must not overflow: 2^16 * 2^16 is 0 in 32 bits, and so on for the largest sizes.
        for (const Size size : {Size{1u << 16, 1u << 16, 0}, Size{~0u, ~0u, 0}})
            check_error(Errc::invalid_shader, "beyond the limit of the device (got ",
                        [&] { Program program(backend, kFolded, {.local_size = size}); });
        check_usable(backend);
    });
}

TEST_CASE("program: a requested subgroup size is the one that the shader reads") {
    on_device([](weft::Backend& backend) {
        const weft::DeviceInfo& device = backend.device();
        CHECK(device.limits.min_subgroup_size <= device.limits.max_subgroup_size);
        if (!device.subgroup_size_control) {
            check_error(Errc::unsupported, "lacks subgroupSizeControl",
                        [&] { Program program(backend, kSubgroup, {.subgroup_size = 32}); });
            return;
        }
        constexpr std::size_t kElements = 640;
        for (std::uint32_t size = device.limits.min_subgroup_size; size <= device.limits.max_subgroup_size;
             size *= 2) {
            for (const bool full : {false, device.full_subgroups}) {
                const Program program(
                    backend, kSubgroup,
                    {.local_size = {64, 0, 0}, .subgroup_size = size, .require_full_subgroups = full});
                CHECK(program.subgroup_size() == size);
                Words sizes(kElements), active(kElements);
                weft::Job job{{}, {sizes, active}, kElements};
                weft::run_batch(backend, program, {&job, 1});
                CHECK(sizes == Words(kElements, size));
                if (full) CHECK(active == Words(kElements, size));
            }
        }
        CHECK(Program(backend, kSubgroup).subgroup_size() == 0);
    });
}

TEST_CASE("program: pipelines with different subgroup sizes are different") {
    on_device([](weft::Backend& backend) {
        const weft::DeviceInfo& device = backend.device();
        if (!device.subgroup_size_control || !device.full_subgroups) return;
        const std::uint32_t size = device.limits.max_subgroup_size;
        const auto before = backend.pipelines().created;
        for (int round = 0; round < 2; ++round) {
            const Program chosen(backend, kSubgroup, {.local_size = {64, 0, 0}, .subgroup_size = size});
            const Program driver(backend, kSubgroup, {.local_size = {64, 0, 0}});
            const Program full(backend, kSubgroup,
                               {.local_size = {64, 0, 0}, .require_full_subgroups = true});
        }
        CHECK(backend.pipelines().created - before == 3);
    });
}

TEST_CASE("program: impossible subgroup sizes are refused with the device's range") {
    on_device([](weft::Backend& backend) {
        const weft::DeviceInfo& device = backend.device();
        if (!device.subgroup_size_control || !device.full_subgroups) return;
        const std::uint32_t low = device.limits.min_subgroup_size, high = device.limits.max_subgroup_size;
        const std::string range =
            ", need a power of two from " + std::to_string(low) + " to " + std::to_string(high);
        for (const std::uint32_t size : {2 * high, low / 2, high - 1, ~0u})
            if (size != 0)
                check_error(Errc::invalid_argument, "subgroup_size (got " + std::to_string(size) + range,
                            [&] { Program program(backend, kSubgroup, {.subgroup_size = size}); });
        check_error(Errc::invalid_argument, "(got 1, need a multiple of", [&] {
            Program program(backend, kSubgroup, {.local_size = {1, 0, 0}, .require_full_subgroups = true});
        });
        check_usable(backend);
    });
}

TEST_CASE("program: subgroup control on a device used as Vulkan 1.2 comes by the extension") {
    weft::Config config = weft::Config::from_env();
    config.vulkan_1_2_only = true;
    on_device(
        [](weft::Backend& backend) {
            const auto& reasons = backend.plan().reasons;
            const bool extension = std::any_of(reasons.begin(), reasons.end(), [](const std::string& line) {
                return line.find("VK_EXT_subgroup_size_control") != std::string::npos;
            });
            const std::uint32_t size = backend.device().limits.max_subgroup_size;
            const weft::ProgramOptions options{.local_size = {64, 0, 0}, .subgroup_size = size};
            if (!extension) {
                check_error(Errc::unsupported, "lacks subgroupSizeControl",
                            [&] { Program program(backend, kSubgroup, options); });
                return;
            }
            Words sizes(64), active(64);
            weft::Job job{{}, {sizes, active}, 64};
            weft::run_batch(backend, Program(backend, kSubgroup, options), {&job, 1});
            CHECK(sizes == Words(64, size));
        },
        config);
}

TEST_CASE("program: constants and bindings are reported") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kStrided, {.name = "strided", .constants = {{1u, 10u}}});
        const auto constants = program.spec_constants();
        REQUIRE(constants.size() == 2);
        CHECK(constants[0].id == 0);
        CHECK(constants[1].id == 1);
        CHECK(constants[1].type == weft::SpecType::uint32);
        CHECK(constants[1].default_bits == 3);  // as declared, not as set
        for (const weft::Binding& binding : program.bindings())
            if (!binding.name.empty()) CHECK(program.binding(binding.name).binding == binding.binding);
        check_error(Errc::invalid_argument,
                    "Program 'strided': no binding has that name (got \"z\", need one",
                    [&] { static_cast<void>(program.binding("z")); });
    });
}

TEST_CASE("program: push constants beyond the limit are refused by number") {
    on_device([](weft::Backend& backend) {
        const std::uint32_t most = backend.device().limits.max_push_constant_bytes;
        check_error(Errc::invalid_shader,
                    "Program 'large': push-constant bytes beyond the limit of the device (got 520, need at "
                    "most " +
                        std::to_string(most) + ")",
                    [&] { Program program(backend, kLargeBlock, {.name = "large"}); });
        check_usable(backend);
    });
}
