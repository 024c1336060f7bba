// SPDX-License-Identifier: Apache-2.0
// Downloads beside uploads by a copy shader, forced where the device itself would not take it.
#include <vector>

#include <weft/weft.hpp>

#include "support/gpu_fixture.hpp"
#include "support/shader_jobs.hpp"

using namespace weft_test;
using weft::Program;

namespace {

weft::Config forced(weft::DownloadBy by) {
    weft::Config config = weft::Config::from_env();
    config.path = weft::Path::staged;
    config.queues = weft::QueueMode::split;
    config.downloads = by;
    return config;
}

void check_right(const AffineWork& work) {
    for (std::size_t j = 0; j < work.jobs.size(); ++j) {
        CAPTURE(j);
        CHECK(work.right(j));
    }
}

}  // namespace

TEST_CASE("downloads: a copy shader makes those of whole units, the engine the others") {
    on_device(
        [](weft::Backend& backend) {
            CHECK(backend.plan().downloads == "shader");
            const Program program(backend, kAffine);
            AffineWork whole({4096, 100000, 4, 64, 262144}), odd({4097, 4095});
            const weft::BatchReport report = weft::run_batch(backend, program, whole.jobs);
            CHECK(report.download_workgroups >= 2);
            CHECK(report.queues.find("by a copy shader") != std::string::npos);
            check_right(whole);
            CHECK(weft::run_batch(backend, program, odd.jobs).download_workgroups == 0);
            check_right(odd);
        },
        forced(weft::DownloadBy::shader));
}

TEST_CASE("downloads: by the copy shader in chunks, from a pipeline, and timed") {
    on_device(
        [](weft::Backend& backend) {
            const Program program(backend, kAffine);
            AffineWork work({65536, 65536, 40000, 65536});
            for (int round = 0; round < 3; ++round) {
                const weft::BatchReport report =
                    weft::run_batch(backend, program, work.jobs,
                                    {.chunk_elements = 4096, .stage_times = weft::Choice::on});
                CHECK(report.download_workgroups >= 2);
                if (!report.intervals.empty()) CHECK(report.stage_s(weft::Stage::download) > 0);
                check_right(work);
            }
            // One chunk after the other has no uploads beside its downloads.
            CHECK(weft::run_batch(backend, program, work.jobs, {.mode = weft::BatchMode::sequential})
                      .download_workgroups == 0);
            AffineWork piped({4096, 8192, 16384}, 5);
            weft::JobPipeline pipeline(backend, program);
            for (const weft::Job& job : piped.jobs) pipeline.submit(job);
            pipeline.wait_all();
            CHECK(pipeline.report().download_workgroups >= 2);
            check_right(piped);
        },
        forced(weft::DownloadBy::shader));
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
            CHECK(weft::run_batch(backend, program, {&job, 1}).download_workgroups >= 2);
            bool right = true;
            for (std::size_t i = 0; i < kCount; ++i)
                right = right && to[i] == in[i] * 3 + 9 + static_cast<std::uint32_t>(i);
            CHECK(right);
            for (std::size_t i = kCount; i < kCount + 64; ++i) REQUIRE(to[i] == kGuardWord);
        },
        forced(weft::DownloadBy::shader));
}

TEST_CASE("downloads: the copy engine where it was asked for") {
    on_device(
        [](weft::Backend& backend) {
            CHECK(backend.plan().downloads == "engine");
            const Program program(backend, kAffine);
            AffineWork work({65536, 65536});
            CHECK(weft::run_batch(backend, program, work.jobs).download_workgroups == 0);
            check_right(work);
        },
        forced(weft::DownloadBy::engine));
}
