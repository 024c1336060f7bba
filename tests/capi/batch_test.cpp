// SPDX-License-Identifier: Apache-2.0
// Batches and pipelines through a program of the caller.
#include <atomic>
#include <stdexcept>

#include "capi/fixture.hpp"

using namespace weft_test;

namespace {

weft_batch_options with_progress(weft_progress_fn call, void* user) {
    weft_batch_options options{};
    options.size = sizeof(options);
    options.chunk_elements = 100;
    options.progress = call;
    options.user = user;
    return options;
}

}  // namespace

TEST_CASE("c: a program says what it has") {
    on_device([](weft_backend* backend) {
        Program program;
        weft_program_options options{};
        options.size = sizeof(options);
        options.name = "affine";
        CHECK_OK(weft_program_create(backend, {kAffineWords, sizeof(kAffineWords)}, &options, &program));
        weft_program_info info{};
        info.size = sizeof(info);
        CHECK_OK(weft_program_describe(program, &info));
        CHECK(std::string(info.name) == "affine");
        CHECK(info.bindings == 2);
        CHECK(info.push_constant_bytes == 16);
        CHECK(info.local_size[0] > 0);
        weft_binding binding{};
        binding.size = sizeof(binding);
        CHECK_OK(weft_program_binding(program, 1, &binding));
        CHECK(binding.binding == 1);
        CHECK(binding.access == WEFT_WRITE);
        CHECK_REFUSED("no such binding (got 2, need below 2)", weft_program_binding(program, 2, &binding));
        Program none;
        CHECK_REFUSED("words is not a whole number",
                      weft_program_create(backend, {kAffineWords, 7}, nullptr, &none));
        CHECK_STATUS(WEFT_INVALID_SHADER, "",
                     weft_program_create(backend, {kAffineWords, 40}, nullptr, &none));
        const weft_constant unknown{99, 1, 0, 0};
        options.constants = &unknown;
        options.constant_count = 1;
        CHECK_REFUSED("99",
                      weft_program_create(backend, {kAffineWords, sizeof(kAffineWords)}, &options, &none));
        CHECK(static_cast<weft_program*>(none) == nullptr);
    });
}

TEST_CASE("c: a batch runs all jobs and reports what it did") {
    on_device([](weft_backend* backend) {
        Program program;
        make_affine(backend, program);
        AffineJob first(1000), second(1);
        const weft_job jobs[] = {first.job, second.job};
        for (const weft_batch_mode mode : {WEFT_PIPELINED, WEFT_SEQUENTIAL}) {
            weft_batch_options options{};
            options.size = sizeof(options);
            options.mode = mode;
            options.chunk_elements = 256;
            options.stage_times = WEFT_ON;
            weft_report report{};
            report.size = sizeof(report);
            CHECK_OK(weft_run_batch(backend, program, jobs, 2, &options, &report));
            CHECK(first.right());
            CHECK(second.right());
            CHECK(report.jobs == 2);
            CHECK(report.elements == 1001);
            CHECK(report.chunks == 5);
            CHECK(report.chunk_elements == 256);
            CHECK(report.bytes_in == 4004);
            CHECK(report.wall_s > 0);
            CHECK(report.stage_s[WEFT_STAGE_KERNEL] > 0);
            CHECK(std::string(report.op) == "run_batch");
        }
        CHECK_OK(weft_run_batch(backend, program, nullptr, 0, nullptr, nullptr));
    });
}

TEST_CASE("c: jobs that do not fit are refused before any work") {
    on_device([](weft_backend* backend) {
        Program program;
        make_affine(backend, program);
        AffineJob work(100);
        const auto refused = [&](const char* part) {
            CHECK_REFUSED(part, weft_run_batch(backend, program, &work.job, 1, nullptr, nullptr));
            CHECK(work.untouched());
        };
        work.job.input_count = 9, refused("too many spans (got 9 inputs and 1 outputs"),
        work.job.input_count = 1;
        work.job.broadcast = 2, refused("broadcast names inputs that the job does not have"),
        work.job.broadcast = 0;
        work.job.reserved = 1, refused("weft_job.reserved is 1"), work.job.reserved = 0;
        work.job.parameters.bytes = 6, refused("parameters are 32-bit words (got 6 bytes"),
        work.job.parameters.bytes = 8;
        work.job.inputs = nullptr, refused("weft_job.inputs is NULL"), work.job.inputs = work.inputs;
        work.job.elements = 7, refused("weft_run_batch: ");
    });
}

TEST_CASE("c: a callback sees progress and ends a batch") {
    on_device([](weft_backend* backend) {
        Program program;
        make_affine(backend, program);
        AffineJob work(1000);
        struct Seen {
            std::uint64_t calls = 0, done = 0, total = 0;
            int answer = 0;
        } seen;
        const weft_progress_fn call = [](void* user, const weft_progress* now) {
            auto& s = *static_cast<Seen*>(user);
            ++s.calls;
            s.done = now->done;
            s.total = now->total;
            return s.answer;
        };
        weft_batch_options options = with_progress(call, &seen);
        CHECK_OK(weft_run_batch(backend, program, &work.job, 1, &options, nullptr));
        CHECK(seen.done == 1);
        CHECK(seen.total == 1);
        seen.answer = -5;
        CHECK_STATUS(WEFT_CANCELLED, "weft_run_batch: ended by its callback",
                     weft_run_batch(backend, program, &work.job, 1, &options, nullptr));
        // In C++, where a callback can throw although it must not.
        options.progress = [](void*, const weft_progress*) -> int { throw 7; };
        CHECK_STATUS(WEFT_INTERNAL, "a callback let an exception out",
                     weft_run_batch(backend, program, &work.job, 1, &options, nullptr));
        options.progress = [](void*, const weft_progress*) -> int { throw std::runtime_error("mine"); };
        CHECK_STATUS(WEFT_INTERNAL, "mine",
                     weft_run_batch(backend, program, &work.job, 1, &options, nullptr));
        CHECK_OK(weft_run_batch(backend, program, &work.job, 1, nullptr, nullptr));
        CHECK(work.right());
    });
}

TEST_CASE("c: a pipeline takes jobs one by one") {
    on_device([](weft_backend* backend) {
        Program program;
        make_affine(backend, program);
        AffineJob first(500), second(300);
        Pipeline pipeline;
        CHECK_OK(weft_pipeline_create(backend, program, nullptr, &pipeline));
        std::uint64_t tokens[2] = {};
        CHECK_OK(weft_pipeline_submit(pipeline, &first.job, &tokens[0]));
        CHECK_OK(weft_pipeline_submit(pipeline, &second.job, &tokens[1]));
        CHECK_OK(weft_pipeline_wait(pipeline, tokens[0], WEFT_FOREVER));
        CHECK(first.right());
        CHECK_OK(weft_pipeline_wait_all(pipeline));
        CHECK(second.right());
        weft_job_state state = WEFT_JOB_QUEUED;
        CHECK_OK(weft_pipeline_state(pipeline, tokens[1], &state));
        CHECK(state == WEFT_JOB_DONE);
        std::uint32_t cancelled = 1;
        CHECK_OK(weft_pipeline_cancel(pipeline, tokens[1], &cancelled));
        CHECK(cancelled == 0);
        weft_report report{};
        report.size = sizeof(report);
        CHECK_OK(weft_pipeline_report(pipeline, &report));
        CHECK(report.jobs == 2);
        CHECK_REFUSED("", weft_pipeline_wait(pipeline, tokens[1] + 100, 0));
        first.job.elements = 3;
        CHECK_REFUSED("", weft_pipeline_submit(pipeline, &first.job, &tokens[0]));
    });
}

TEST_CASE("c: a callback ends a pipeline: jobs that are not done fail, and no more are taken") {
    on_device([](weft_backend* backend) {
        Program program;
        make_affine(backend, program);
        AffineJob work(1000), later(10);
        weft_batch_options options = with_progress([](void*, const weft_progress*) { return 1; }, nullptr);
        Pipeline pipeline;
        CHECK_OK(weft_pipeline_create(backend, program, &options, &pipeline));
        std::uint64_t token = 0;
        CHECK_OK(weft_pipeline_submit(pipeline, &work.job, &token));
        CHECK_OK(
            weft_pipeline_wait(pipeline, token, WEFT_FOREVER));  // it was done when the callback heard of it
        CHECK(work.right());
        // The callback may run once more, or the pipeline may be at its end already.
        if (weft_pipeline_submit(pipeline, &later.job, &token) == WEFT_OK) {
            CHECK_STATUS(WEFT_CANCELLED, "ended by its callback",
                         weft_pipeline_wait(pipeline, token, WEFT_FOREVER));
            weft_job_state state = WEFT_JOB_QUEUED;
            CHECK_OK(weft_pipeline_state(pipeline, token, &state));
            CHECK(state == WEFT_JOB_FAILED);
        }
        CHECK_STATUS(WEFT_CANCELLED, "weft_pipeline_submit: ended by its callback",
                     weft_pipeline_submit(pipeline, &later.job, &token));
    });
}

TEST_CASE("c: a wait may end before the job, and queued jobs can be cancelled") {
    on_device([](weft_backend* backend) {
        Program program;
        make_affine(backend, program);
        // The callback holds the pipeline's thread until the test lets it go, so the second job stays queued.
        std::atomic<bool> go{false};
        weft_batch_options options = with_progress(
            [](void* user, const weft_progress*) {
                static_cast<std::atomic<bool>*>(user)->wait(false);
                return 0;
            },
            &go);
        options.mode = WEFT_SEQUENTIAL;
        AffineJob first(100), second(100);
        Pipeline pipeline;
        CHECK_OK(weft_pipeline_create(backend, program, &options, &pipeline));
        std::uint64_t tokens[2] = {};
        CHECK_OK(weft_pipeline_submit(pipeline, &first.job, &tokens[0]));
        CHECK_STATUS(WEFT_TIMEOUT, "weft_pipeline_wait: the time was up",
                     weft_pipeline_wait(pipeline, tokens[0], 20000000));
        CHECK_OK(weft_pipeline_submit(pipeline, &second.job, &tokens[1]));
        std::uint32_t cancelled = 0;
        CHECK_OK(weft_pipeline_cancel(pipeline, tokens[1], &cancelled));
        CHECK(cancelled == 1);
        go = true;
        go.notify_all();
        CHECK_OK(weft_pipeline_wait(pipeline, tokens[0], WEFT_FOREVER));
        CHECK(first.right());
        CHECK_STATUS(WEFT_CANCELLED, "", weft_pipeline_wait(pipeline, tokens[1], WEFT_FOREVER));
        CHECK(second.untouched());
    });
}
