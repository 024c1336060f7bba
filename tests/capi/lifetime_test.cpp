// SPDX-License-Identifier: Apache-2.0
// Handles are released in any order, and used by many threads.
#include <atomic>
#include <thread>

#include "capi/fixture.hpp"

using namespace weft_test;

TEST_CASE("c: what is made of a backend outlives it") {
    Backend backend;
    CHECK_OK(weft_backend_create(nullptr, &backend));
    Program program;
    make_affine(backend, program);
    Buffer x, y;
    CHECK_OK(weft_buffer_create(backend, WEFT_DEVICE_MEMORY, 400, nullptr, &x));
    CHECK_OK(weft_buffer_create(backend, WEFT_DEVICE_MEMORY, 400, nullptr, &y));
    Stream stream;
    CHECK_OK(weft_stream_create(backend, nullptr, &stream));
    Pipeline pipeline;
    CHECK_OK(weft_pipeline_create(backend, program, nullptr, &pipeline));
    Profile profile;
    CHECK_OK(weft_profile_create(backend, 0, &profile));
    AffineJob work(100), piped(50);
    std::uint64_t token = 0;
    CHECK_OK(weft_pipeline_submit(pipeline, &piped.job, &token));
    backend.reset();
    CHECK_OK(weft_pipeline_wait(pipeline, token, WEFT_FOREVER));
    CHECK(piped.right());
    CHECK_OK(weft_stream_upload(stream, in(work.x), weft_buffer_view(x)));
    const weft_view views[] = {weft_buffer_view(x), weft_buffer_view(y)};
    CHECK_OK(weft_stream_dispatch(stream, program, views, 2, 100, {&work.parameters, 8}));
    x.reset();
    program.reset();
    Event event;
    CHECK_OK(weft_stream_submit(stream, &event));
    CHECK_OK(weft_stream_download(stream, weft_buffer_view(y), out(work.y)));
    CHECK(work.right());
    stream.reset();
    CHECK_OK(weft_event_wait(event, WEFT_FOREVER));
    Text text;
    CHECK_OK(weft_profile_print(profile, WEFT_PROFILE_TABLE, &text));
    profile.reset();
    CHECK(!std::string(weft_text_data(text)).empty());
}

TEST_CASE("c: an outcome outlives what it is about") {
    Backend backend;
    CHECK_OK(weft_backend_create(nullptr, &backend));
    Buffer values, states;
    CHECK_OK(weft_buffer_create(backend, WEFT_DEVICE_MEMORY, 4, nullptr, &values));
    CHECK_OK(weft_buffer_create(backend, WEFT_DEVICE_MEMORY, 16, nullptr, &states));
    Stream stream, other;
    CHECK_OK(weft_stream_create(backend, nullptr, &stream));
    CHECK_OK(weft_stream_create(backend, nullptr, &other));
    CHECK_OK(weft_stream_fill(stream, weft_buffer_view(values), 0x7fc00000));  // NaN
    weft_encode_outcome* outcome = nullptr;
    CHECK_OK(weft_stream_encode(stream, WEFT_ENCODE_ANGLE, WEFT_FLOAT32, weft_buffer_view(values),
                                WEFT_COMPLEX64, weft_buffer_view(states), 1, 1, nullptr, &outcome));
    backend.reset();
    values.reset();
    states.reset();
    CHECK_REFUSED("", weft_encode_outcome_check(outcome, other));
    CHECK_REFUSED("not a number", weft_encode_outcome_check(outcome, stream));
    weft_failure failure{};
    CHECK(weft_last_failures(&failure, 1) == 1);
    CHECK(failure.fault == WEFT_FAULT_NOT_A_NUMBER);
    stream.reset();
    CHECK_REFUSED("", weft_encode_outcome_check(outcome, other));
    weft_encode_outcome_release(outcome);
}

TEST_CASE("c: a handle lives until its last use is released") {
    Backend backend;
    CHECK_OK(weft_backend_create(nullptr, &backend));
    weft_backend* const again = backend;
    weft_backend_retain(again);
    backend.reset();
    CHECK(!std::string(weft_backend_name(again)).empty());
    CHECK_OK(weft_backend_wait_idle(again));
    weft_backend_release(again);
}

TEST_CASE("c: many threads share a backend and a program, each with its own errors") {
    on_device([](weft_backend* backend) {
        Program program;
        make_affine(backend, program);
        std::atomic<int> wrong{0};
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&, t] {
                weft_backend_retain(backend);
                weft_program_retain(program);
                for (int round = 0; round < 5; ++round) {
                    AffineJob work(static_cast<std::size_t>(100 + 31 * t));
                    if (weft_run_batch(backend, program, &work.job, 1, nullptr, nullptr) != WEFT_OK ||
                        !work.right())
                        ++wrong;
                    const std::string name = "field " + std::to_string(t);
                    weft_field field = 0;
                    if (weft_field_find(name.c_str(), &field) != WEFT_INVALID_ARGUMENT) ++wrong;
                    std::this_thread::yield();
                    if (std::string(weft_last_error()).find(name) == std::string::npos) ++wrong;
                }
                weft_program_release(program);
                weft_backend_release(backend);
            });
        for (std::thread& thread : threads) thread.join();
        CHECK(wrong == 0);
    });
}

TEST_CASE("c: many threads share a pipeline") {
    on_device([](weft_backend* backend) {
        Program program;
        make_affine(backend, program);
        Pipeline pipeline;
        CHECK_OK(weft_pipeline_create(backend, program, nullptr, &pipeline));
        std::atomic<int> wrong{0};
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&] {
                for (int round = 0; round < 5; ++round) {
                    AffineJob work(100);
                    std::uint64_t token = 0;
                    if (weft_pipeline_submit(pipeline, &work.job, &token) != WEFT_OK ||
                        weft_pipeline_wait(pipeline, token, WEFT_FOREVER) != WEFT_OK || !work.right())
                        ++wrong;
                }
            });
        for (std::thread& thread : threads) thread.join();
        CHECK(wrong == 0);
        CHECK_OK(weft_pipeline_wait_all(pipeline));
    });
}

TEST_CASE("c: a stream that another thread uses is refused, and stays usable") {
    on_device([](weft_backend* backend) {
        Stream stream;
        CHECK_OK(weft_stream_create(backend, nullptr, &stream));
        Sequence sequence;
        const weft_record_fn steps = [](void*, weft_stream* inside) {
            weft_status status = WEFT_OK;
            std::string text;
            std::thread([&] {
                status = weft_stream_submit(inside, nullptr);
                text = weft_last_error();
            }).join();
            CHECK(status == WEFT_INVALID_ARGUMENT);
            CHECK(text.find("weft_stream_submit: another thread is inside a call") != std::string::npos);
            return 0;
        };
        CHECK_OK(weft_stream_record(stream, steps, nullptr, &sequence));
        std::thread([&] { CHECK_OK(weft_stream_wait(stream, WEFT_FOREVER)); }).join();
        CHECK_OK(weft_stream_wait(stream, WEFT_FOREVER));
    });
}
