// SPDX-License-Identifier: Apache-2.0
// Staged downloads on a separate queue: odd sizes, many chunks, pipelines, page-locked memory.
#include <vector>

#include <weft/weft.hpp>

#include "support/gpu_fixture.hpp"
#include "support/shader_jobs.hpp"

using namespace weft_test;
using weft::Program;

namespace {

weft::Config staged_and_split() {
    weft::Config config = weft::Config::from_env();
    config.path = weft::Path::staged;
    config.queues = weft::QueueMode::split;
    return config;
}

void check_right(const AffineWork& work) {
    for (std::size_t j = 0; j < work.jobs.size(); ++j) {
        CAPTURE(j);
        CHECK(work.right(j));
    }
}

}  // namespace

TEST_CASE("downloads: of any size, in chunks, from a pipeline, and timed") {
    on_device(
        [](weft::Backend& backend) {
            const Program program(backend, kAffine);
            AffineWork mixed({4096, 4097, 4095, 100000, 4, 64, 262144}), equal({65536, 65536, 40000, 65536});
            const weft::BatchReport report = weft::run_batch(backend, program, mixed.jobs);
            CHECK(report.queues.find("download family") != std::string::npos);
            check_right(mixed);
            for (int round = 0; round < 3; ++round) {
                const weft::BatchReport timed = weft::run_batch(
                    backend, program, equal.jobs, {.chunk_elements = 4096, .stage_times = weft::Choice::on});
                if (!timed.intervals.empty()) CHECK(timed.stage_s(weft::Stage::download) > 0);
                check_right(equal);
            }
            AffineWork piped({4096, 8192, 16384}, 5);
            weft::JobPipeline pipeline(backend, program);
            for (const weft::Job& job : piped.jobs) pipeline.submit(job);
            pipeline.wait_all();
            check_right(piped);
        },
        staged_and_split());
}

TEST_CASE("downloads: page-locked memory is written in place") {
    on_device(
        [](weft::Backend& backend) {
            const Program program(backend, kAffine);
            constexpr std::size_t kCount = 50000;
            const auto in = words(kCount);
            weft::HostBuffer<std::uint32_t> from(backend, kCount), to(backend, kCount + 64);
            std::copy(in.begin(), in.end(), from.begin());
            std::fill(to.begin(), to.end(), kGuardWord);
            weft::Job job;
            job.inputs = {from.span()};
            job.outputs = {to.span().first(kCount)};
            job.elements = kCount;
            job.parameters = AffineParameters{3, 9};
            CHECK(weft::run_batch(backend, program, {&job, 1}).copy_out_s == 0);
            bool right = true;
            for (std::size_t i = 0; i < kCount; ++i)
                right = right && to[i] == in[i] * 3 + 9 + static_cast<std::uint32_t>(i);
            CHECK(right);
            for (std::size_t i = kCount; i < kCount + 64; ++i) REQUIRE(to[i] == kGuardWord);
        },
        staged_and_split());
}
