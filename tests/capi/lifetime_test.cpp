// SPDX-License-Identifier: Apache-2.0
// Handles are released in any order, and used by many threads.
#include <unistd.h>

#include <atomic>
#include <thread>

#include "capi/fixture.hpp"
#include "support/child_process.hpp"
#include "support/scratch_folder.hpp"

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

TEST_CASE("c: operators and stores outlive their backends") {
    Backend backend;
    CHECK_OK(weft_backend_create(nullptr, &backend));
    const std::vector<float> x{0, 1, 2, 3}, v{1, 0, 0, 0};
    std::vector<float> first(4), second(4);
    KernelOperator k;
    CHECK_OK(
        weft_kernel_operator_create(backend, nullptr, WEFT_FLOAT32, in(x), {}, {4, 0, 1, 0}, nullptr, &k));
    CHECK_OK(weft_kernel_apply(backend, k, in(v), out(first), nullptr, nullptr));
    Stream stream;
    Buffer of_v, of_out;
    CHECK_OK(weft_stream_create(backend, nullptr, &stream));
    CHECK_OK(weft_buffer_create(backend, WEFT_DEVICE_MEMORY, 16, nullptr, &of_v));
    CHECK_OK(weft_buffer_create(backend, WEFT_DEVICE_MEMORY, 16, nullptr, &of_out));
    const ScratchFolder folder;
    KernelStore store;
    CHECK_OK(
        weft_kernel_store_create((folder.path() / "k.npy").c_str(), {4, 0, 1, 0}, WEFT_FLOAT32, 0, &store));
    CHECK_OK(weft_kernel_store_fill(store, backend, nullptr, WEFT_FLOAT32, in(x), {}, nullptr, nullptr));
    backend.reset();
    CHECK_OK(weft_stream_upload(stream, in(v), weft_buffer_view(of_v)));
    CHECK_OK(weft_stream_kernel_apply(stream, k, weft_buffer_view(of_v), weft_buffer_view(of_out), nullptr));
    k.reset();  // the recorded step keeps what it reads
    of_v.reset();
    CHECK_OK(weft_stream_download(stream, weft_buffer_view(of_out), out(second)));
    CHECK(second == first);
    stream.reset();
    of_out.reset();
    CHECK_OK(weft_kernel_store_finish(store));
    Backend another;  // of an operator that is not of this backend
    CHECK_OK(weft_backend_create(nullptr, &another));
    KernelOperator own;
    CHECK_OK(
        weft_kernel_operator_create(another, nullptr, WEFT_FLOAT32, in(x), {}, {4, 0, 1, 0}, nullptr, &own));
    Backend other;
    CHECK_OK(weft_backend_create(nullptr, &other));
    CHECK_REFUSED("weft_kernel_apply: ", weft_kernel_apply(other, own, in(v), out(second), nullptr, nullptr));
    another.reset();
    own.reset();
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

TEST_CASE("c: the last release in a callback waits for the call that it is in") {
    struct Last {
        Backend backend;
        Program program;
        Stream stream;
    } last;
    CHECK_OK(weft_backend_create(nullptr, &last.backend));
    make_affine(last.backend, last.program);
    CHECK_OK(weft_stream_create(last.backend, nullptr, &last.stream));
    Sequence sequence;
    const weft_record_fn steps = [](void* user, weft_stream*) {
        static_cast<Last*>(user)->stream.reset();
        return 0;
    };
    CHECK_OK(weft_stream_record(last.stream, steps, &last, &sequence));
    sequence.reset();
    AffineJob work(1000);
    weft_batch_options options{};
    options.size = sizeof(options);
    options.chunk_elements = 100;
    options.user = &last;
    options.progress = [](void* user, const weft_progress*) {
        static_cast<Last*>(user)->program.reset();
        static_cast<Last*>(user)->backend.reset();
        return 0;
    };
    CHECK_OK(weft_run_batch(last.backend, last.program, &work.job, 1, &options, nullptr));
    CHECK(work.right());
    CHECK(static_cast<weft_backend*>(last.backend) == nullptr);
}

TEST_CASE("c: ops hold what their callbacks release") {
    Backend backend;
    weft_batch_options batch{};
    batch.size = sizeof(batch);
    batch.user = &backend;
    batch.progress = [](void* user, const weft_progress*) {
        static_cast<Backend*>(user)->reset();
        return 0;
    };
    CHECK_OK(weft_backend_create(nullptr, &backend));
    weft_field_options field{};
    field.size = sizeof(field);
    field.batch = &batch;
    std::vector<std::uint64_t> a(4, 1);
    CHECK_OK(weft_field_apply(backend, WEFT_GOLDILOCKS, WEFT_FIELD_ADD, in(a), in(a), {}, out(a), &field,
                              nullptr));
    CHECK(a == std::vector<std::uint64_t>(4, 2));
    CHECK_OK(weft_backend_create(nullptr, &backend));
    weft_kernel_options kernel{};
    kernel.size = sizeof(kernel);
    kernel.batch = &batch;
    std::vector<float> x(4, 0.5f), k(4);
    CHECK_OK(weft_kernel_matrix(backend, nullptr, WEFT_FLOAT32, in(x), {}, WEFT_FLOAT32, out(k), {2, 0, 2, 0},
                                &kernel, nullptr));
    CHECK(k[1] == doctest::Approx(1));
    CHECK_OK(weft_backend_create(nullptr, &backend));
    weft_ntt_options transform{};
    transform.size = sizeof(transform);
    transform.batch = &batch;
    CHECK_OK(weft_ntt(backend, WEFT_GOLDILOCKS, WEFT_NTT_FORWARD, in(a), out(a), {2, WEFT_NTT_ROWS, 1, 0},
                      &transform, nullptr));
    CHECK(a == std::vector<std::uint64_t>{8, 0, 0, 0});
    struct Last {
        Backend backend;
        KernelOperator k;
    } last;
    CHECK_OK(weft_backend_create(nullptr, &last.backend));
    CHECK_OK(weft_kernel_operator_create(last.backend, nullptr, WEFT_FLOAT32, in(x), {}, {2, 0, 2, 0},
                                         nullptr, &last.k));
    batch.user = &last;
    batch.progress = [](void* user, const weft_progress*) {
        static_cast<Last*>(user)->k.reset();
        static_cast<Last*>(user)->backend.reset();
        return 0;
    };
    weft_kernel_solve_options solve{};
    solve.size = sizeof(solve);
    solve.batch = &batch;
    std::vector<float> y{1, 1}, alpha(2);
    CHECK_OK(weft_kernel_solve(last.backend, last.k, in(y), out(alpha), &solve, nullptr));
    CHECK(alpha[0] == doctest::Approx(0.5).epsilon(0.01));
    CHECK(static_cast<weft_kernel_operator*>(last.k) == nullptr);
}

TEST_CASE("c: a process that was forked after a backend was opened gets none") {
    on_device([](weft_backend* backend) {
        const pid_t child = fork();
        if (child == 0) {
            weft_backend* own = nullptr;
            weft_device_list* list = nullptr;
            const bool right = weft_backend_create(nullptr, &own) == WEFT_UNSUPPORTED && own == nullptr &&
                               std::string(weft_last_error()).find("use exec") != std::string::npos &&
                               weft_list_devices(nullptr, &list) == WEFT_UNSUPPORTED && list == nullptr &&
                               weft_backend_wait_idle(backend) == WEFT_UNSUPPORTED &&
                               std::string(weft_last_error()).find("use exec") != std::string::npos;
            _exit(right ? 0 : 1);
        }
        REQUIRE(child > 0);
        CHECK(await_exit(child) == 0);
        CHECK_OK(weft_backend_wait_idle(backend));
    });
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

TEST_CASE("c: many threads share an operator, and transform") {
    on_device([](weft_backend* backend) {
        const std::vector<float> x{0, 0, 0, 0}, v{1, 2, 3, 4};
        KernelOperator k;
        CHECK_OK(weft_kernel_operator_create(backend, nullptr, WEFT_FLOAT32, in(x), {}, {4, 0, 1, 0}, nullptr,
                                             &k));
        std::atomic<int> wrong{0};
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&] {
                weft_kernel_operator_retain(k);
                for (int round = 0; round < 5; ++round) {
                    std::vector<float> product(4);
                    std::vector<std::uint64_t> points{1, 2};
                    if (weft_kernel_apply(backend, k, in(v), out(product), nullptr, nullptr) != WEFT_OK ||
                        product != std::vector<float>(4, 10))
                        ++wrong;
                    if (weft_ntt(backend, WEFT_GOLDILOCKS, WEFT_NTT_FORWARD, in(points), out(points),
                                 {1, WEFT_NTT_ROWS, 1, 0}, nullptr, nullptr) != WEFT_OK ||
                        points[0] != 3)
                        ++wrong;
                }
                weft_kernel_operator_release(k);
            });
        for (std::thread& thread : threads) thread.join();
        CHECK(wrong == 0);
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
