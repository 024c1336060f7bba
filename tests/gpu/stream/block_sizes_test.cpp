// SPDX-License-Identifier: Apache-2.0
// Ranges that are shorter than what a shader declares, wherever they are bound, and chunks that would be.
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "support/gpu_fixture.hpp"
#include "support/shader_jobs.hpp"

using namespace weft_test;
using weft::Buffer;
using weft::Errc;
using weft::Job;
using weft::Program;
using weft::Stream;

namespace {

constexpr std::uint32_t kFixedBlock[] = {
#include "shaders/fixed_block.spv.inc"
};
constexpr std::uint32_t kHeaderBlock[] = {
#include "shaders/header_block.spv.inc"
};
constexpr std::uint32_t kSizedBlock[] = {
#include "shaders/sized_block.spv.inc"
};
constexpr std::uint32_t kSizedOverlap[] = {
#include "shaders/sized_overlap.spv.inc"
};
constexpr std::uint32_t kLengthOnly[] = {
#include "shaders/length_only.spv.inc"
};

const char* const kShort = "range is shorter than the shader's block (got 1024 bytes, need 4096)";

std::vector<float> counted(std::size_t count) {
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), 1.0f);
    return values;
}

}  // namespace

TEST_CASE("block sizes: reflection reports the least range, constants included") {
    on_device([](weft::Backend& backend) {
        const Program fixed(backend, kFixedBlock), header(backend, kHeaderBlock);
        CHECK(fixed.bindings()[0].least_bytes == 4096);
        CHECK(fixed.bindings()[1].least_bytes == 4);
        CHECK(header.bindings()[0].least_bytes == 36);
        CHECK(Program(backend, kSizedBlock).bindings()[0].least_bytes == 16);
        CHECK(Program(backend, kSizedBlock, {.constants = {{0, 300u}}}).bindings()[0].least_bytes == 1200);
    });
}

TEST_CASE("block sizes: a dispatch with a shorter range is refused, recorded or not") {
    on_device([](weft::Backend& backend) {
        const Program fixed(backend, kFixedBlock), header(backend, kHeaderBlock);
        Stream stream(backend);
        Buffer<float> x(backend, 1024), y(backend, 1024);
        const std::vector<float> values = counted(1024);
        stream.upload(values, x);
        const auto short_steps = [&](Stream& to) { to.dispatch(fixed, {x.view(0, 256), y}, 1024); };
        check_error(Errc::invalid_argument, kShort, [&] { short_steps(stream); });
        check_error(Errc::invalid_argument, kShort, [&] { stream.record(short_steps); });
        check_error(Errc::invalid_argument, "binding 0", [&] { short_steps(stream); });
        stream.dispatch(fixed, {x.view(0, 256), y}, 0);  // without elements nothing is bound
        stream.dispatch(fixed, {x, y}, 1024);
        const std::vector<float> got = stream.download(y);
        for (std::size_t i = 0; i < got.size(); ++i) REQUIRE(got[i] == values[1023 - i]);

        Buffer<std::uint32_t> list(backend, 16);
        check_error(Errc::invalid_argument, "(got 4 bytes, need 36)",
                    [&] { stream.dispatch(header, {list.view(0, 1)}, 1); });
        check_error(Errc::invalid_argument, "(got 32 bytes, need 36)",
                    [&] { stream.dispatch(header, {list.view(0, 8)}, 1); });
        stream.fill(list.view(), 0);
        stream.dispatch(header, {list.view(0, 10)}, 64);
        const std::vector<std::uint32_t> after = stream.download(list);
        float second = 0;
        std::memcpy(&second, &after[9], 4);
        CHECK(second == 1.0f);
        CHECK(after[10] == 0);
    });
}

TEST_CASE("block sizes: a range may end inside an element after the first") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kLengthOnly);
        Stream stream(backend);
        Buffer<std::uint8_t> in(backend, 64), out(backend, 64);
        stream.fill(in.view(), 0u);
        stream.fill(out.view(), 0u);
        stream.dispatch(program, {in.view(0, 9), out.view(0, 7)}, 9);
        const std::vector<std::uint8_t> got = stream.download(out);
        CHECK(got[0] == 2);  // two whole words are read, and one is written
        CHECK(got[4] == 0);
        for (const std::size_t bytes : {1u, 3u})
            check_error(Errc::invalid_argument, "need 4)", [&] {
                stream.dispatch(program, {in.view(0, 8), out.view(0, bytes)}, 1);
            });
    });
}

TEST_CASE("block sizes: jobs with a shorter span are refused, outputs untouched") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kFixedBlock);
        const std::vector<float> x(256, 1.0f);
        std::vector<float> y(256, -1.0f);
        const Job job{{x}, {y}, 256}, table{{{x, true}}, {y}, 256};
        for (const Job& bad : {job, table}) {
            check_error(Errc::invalid_argument, kShort, [&] {
                weft::run_batch(backend, program, {&bad, 1});
            });
            weft::JobPipeline pipeline(backend, program);
            check_error(Errc::invalid_argument, "JobPipeline::submit: job 0", [&] { pipeline.submit(bad); });
            check_error(Errc::invalid_argument, kShort, [&] { pipeline.submit(bad); });
        }
        CHECK(y == std::vector<float>(256, -1.0f));
        check_usable(backend);
    });
}

TEST_CASE("block sizes: chunks grow to hold the block, whatever was asked for") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kFixedBlock);
        for (const std::size_t count : {1024u, 2047u, 2048u, 5000u}) {
            CAPTURE(count);
            const std::vector<float> x = counted(count);
            std::vector<float> y(count, -1.0f);
            const Job job{{x}, {y}, count};
            const weft::BatchReport report =
                weft::run_batch(backend, program, {&job, 1}, {.chunk_elements = 100});
            CHECK(report.chunks == count / 1024);
            // Every chunk reads the first 1024 elements of its own share.
            std::size_t first = 0, wrong = 0;
            for (std::uint64_t chunk = 0; chunk < report.chunks; ++chunk) {
                const std::size_t end = chunk + 1 == report.chunks ? count : first + 1024;
                for (std::size_t i = first; i < end; ++i)
                    wrong += y[i] != x[first + 1023 - (i - first) % 1024] ? 1u : 0u;
                first = end;
            }
            CHECK(wrong == 0);
        }
        // An element has a share of one byte of the words that the shader sees.
        const Program words(backend, kLengthOnly);
        const std::vector<std::uint8_t> in(41, 0);
        std::vector<std::uint8_t> out(41, 0xee);
        const Job bytes{{in}, {out}, in.size()};
        CHECK(weft::run_batch(backend, words, {&bytes, 1}, {.chunk_elements = 3}).chunks == 10);
        for (std::size_t i = 0; i < 40; ++i) REQUIRE(out[i] == (i % 4 == 0 ? 1 : 0));
    });
}

TEST_CASE("block sizes: a job whose chunks cannot hold the block is refused before anything runs") {
    on_device([](weft::Backend& backend) {
        const std::uint64_t most = backend.device().limits.max_workgroup_count[0];
        if (most > (1u << 20)) return;
        const auto length = static_cast<std::uint32_t>(most + 1);
        const Program program(backend, kSizedBlock, {.constants = {{0, length}}});
        std::vector<std::uint32_t> values(2 * most, 7);
        const Job job{{values}, {values}, values.size()};
        check_error(Errc::invalid_argument, "the job must be cut, and its chunks would be shorter", [&] {
            weft::run_batch(backend, program, {&job, 1});
        });
        CHECK(values == std::vector<std::uint32_t>(2 * most, 7));
        const Job one{{values}, {values}, 1};  // one element has all of the span
        weft::run_batch(backend, program, {&one, 1});
        CHECK(values[most - 1] == 100 + most - 1);  // lavapipe ends loops after 65535 rounds
        CHECK(values[most + 1] == 7);
    });
}

TEST_CASE("block sizes: constants that make members overlap are refused before the driver sees them") {
    on_device([](weft::Backend& backend) {
        const std::uint64_t before = backend.pipelines().created;
        check_error(Errc::invalid_shader, "with the constants 0 = 8", [&] {
            Program(backend, kSizedOverlap, {.constants = {{0, 8u}}});
        });
        CHECK(backend.pipelines().created == before);
        const Program narrow(backend, kSizedOverlap, {.constants = {{0, 2u}}});
        Stream stream(backend);
        Buffer<std::uint32_t> y(backend, 16);
        stream.fill(y.view(), 0);
        stream.dispatch(narrow, {y}, 1);
        const std::vector<std::uint32_t> got = stream.download(y);
        CHECK(got[0] == 100);
        CHECK(got[1] == 101);
        CHECK(got[2] == 0);
    });
}

TEST_CASE("block sizes: texts name what was asked for") {
    on_device([](weft::Backend& backend) {
        const std::uint64_t most = backend.device().limits.max_buffer_bytes;
        if (most < ~std::uint64_t{0} / 4)
            check_error(Errc::invalid_argument, "Buffer \"states\": too large for this device",
                        [&] { Buffer<char> buffer(backend, most + 1, "states"); });
    });
    weft::Config config = weft::Config::from_env();
    config.memory_limit = 1 << 20;
    on_device(
        [](weft::Backend& backend) {
            check_error(Errc::out_of_memory, "Buffer \"states\": beyond Config::memory_limit (got ",
                        [&] { Buffer<char> buffer(backend, 4 << 20, "states"); });
            check_error(Errc::out_of_memory, "Buffer \"host buffer\": beyond Config::memory_limit (got ",
                        [&] { weft::HostBuffer<char> buffer(backend, 4 << 20); });
        },
        config);
}
