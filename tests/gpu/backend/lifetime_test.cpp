// SPDX-License-Identifier: Apache-2.0
// A Backend that is destroyed before the objects that were made with it, and a Backend in a forked child.
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include <weft/weft.hpp>

#include "support/child_process.hpp"
#include "support/gpu_fixture.hpp"
#include "support/shader_jobs.hpp"

using namespace weft_test;
using weft::Backend;
using weft::Errc;
using weft::Program;

TEST_CASE("lifetime: buffers, programs, streams and registrations may outlive the backend") {
    std::optional<Backend> backend = make_backend();
    if (!backend) return;
    std::vector<std::byte> memory(1 << 16);
    const Program program(*backend, kAffine);
    weft::Stream stream(*backend);
    weft::Buffer<std::uint32_t> a(*backend, 100), b(*backend, 100);
    weft::HostBuffer<std::uint32_t> host(*backend, 100);
    std::optional<weft::HostRegistration> registration;
    if (backend->device().import_host_memory) registration.emplace(*backend, memory);
    const auto in = words(100);
    stream.upload(in, a);
    stream.dispatch(program, {a, b}, 100, AffineParameters{2, 3});
    stream.submit();
    backend.reset();
    const auto out = stream.download(b);
    for (std::uint32_t i = 0; i < 100; ++i) CHECK(out[i] == in[i] * 2 + 3 + i);
    host[99] = 7;
    CHECK(host[99] == 7);
    CHECK(program.bindings().size() == 2);
    const Program another(stream, kInPlace);
    stream.dispatch(another, {b}, 100);
    CHECK(stream.download(b)[5] == out[5] + 1005);
}

TEST_CASE("lifetime: everything in the opposite order, many times") {
    for (int round = 0; round < 3; ++round) {
        std::optional<Backend> backend = make_backend();
        if (!backend) return;
        std::optional<weft::HostBuffer<std::uint32_t>> host(std::in_place, *backend, 100);
        std::optional<Program> program(std::in_place, *backend, kAffine);
        AffineWork work({5000});
        weft::run_batch(*backend, *program, work.jobs, {.path = weft::Path::staged});
        CHECK(work.right());
        backend.reset();
        host.reset();
        program.reset();
    }
}

TEST_CASE("lifetime: an empty registration is refused, page-locked spans are found") {
    on_device([](Backend& backend) {
        if (!backend.device().import_host_memory) return;
        check_error(Errc::invalid_argument, "got 0 bytes",
                    [&] { weft::HostRegistration registration(backend, {}); });
        const Program program(backend, kAffine);
        AffineWork work({5000});
        {
            const weft::HostRegistration in(
                backend,
                std::as_writable_bytes(std::span(const_cast<std::uint32_t*>(work.in(0).data()), 5000)));
            const weft::HostRegistration out(backend, std::as_writable_bytes(std::span(work.out(0))));
            weft::run_batch(backend, program, work.jobs, {.path = weft::Path::staged});
            CHECK(work.right());
        }
        work.clear();
        weft::run_batch(backend, program, work.jobs, {.path = weft::Path::staged});
        CHECK(work.right());
    });
}

#if !defined(__SANITIZE_THREAD__)

TEST_CASE("lifetime: in a forked child every call fails immediately and nothing hangs") {
    std::optional<Backend> backend = make_backend();
    if (!backend) return;
    std::optional<Program> program(std::in_place, *backend, kAffine);
    // Workers and a pipeline's thread run in the parent; the child has none of them.
    AffineWork work({1u << 20, 100});
    weft::run_batch(*backend, *program, work.jobs, {.path = weft::Path::staged});
    std::optional<weft::Stream> stream(std::in_place, *backend);
    std::optional<weft::Buffer<std::uint32_t>> buffer(std::in_place, *backend, 64);
    std::optional<weft::HostBuffer<std::uint32_t>> host(std::in_place, *backend, 64);
    std::optional<weft::JobPipeline> pipeline(std::in_place, *backend, *program);
    const weft::JobToken token = pipeline->submit(work.jobs[1]);
    pipeline->wait(token);
    stream->fill(buffer->view(), 1);

    const std::vector<std::function<void()>> calls = {
        [&] { weft::run_batch(*backend, *program, work.jobs); },
        [&] { check_usable(*backend); },
        [&] { weft::Buffer<int> b(*backend, 1); },
        [&] { weft::HostBuffer<int> b(*backend, 1); },
        [&] { weft::HostRegistration r(*backend, std::as_writable_bytes(std::span(work.out(0)))); },
        [&] { Program p(*backend, kAffine); },
        [&] { weft::Stream s(*backend); },
        [&] { weft::JobPipeline p(*backend, *program); },
        [&] { stream->fill(buffer->view(), 2); },
        [&] { stream->submit(); },
        [&] { stream->wait(); },
        [&] { stream->download(*buffer); },
        [&] { pipeline->submit(work.jobs[0]); },
        [&] { pipeline->wait(token); },
        [&] { pipeline->wait_all(); },
        [&] { (void)pipeline->state(token); },
        [&] { pipeline->cancel(token); },
        [&] { (void)pipeline->report(); },
        [&] { backend->wait_idle(); },
        [&] { backend->trim(); },
        [&] { (void)backend->memory(); },
        [&] { (void)backend->counters(); },
        [&] { (void)backend->pipelines(); },
        [&] { backend->save_pipeline_cache(); },
        [&] { (void)backend->name(); },
    };
    const pid_t child = fork();
    if (child == 0) {
        int failures = 0;
        for (std::size_t i = 0; i < calls.size(); ++i) {
            try {
                calls[i]();
                std::fprintf(stderr, "call %zu did not fail in the child\n", i);
                ++failures;
            } catch (const weft::Error& error) {
                if (error.code() == Errc::unsupported) continue;
                std::fprintf(stderr, "call %zu: %s\n", i, error.what());
                ++failures;
            }
        }
        pipeline.reset();
        stream.reset();
        buffer.reset();
        host.reset();
        program.reset();
        backend.reset();
        _exit(failures == 0 ? 42 : 1);
    }
    CHECK(await_exit(child) == 42);
    // The parent is not affected.
    CHECK(stream->download(*buffer) == std::vector<std::uint32_t>(64, 1));
    work.clear();
    CHECK(pipeline->wait(pipeline->submit(work.jobs[1])));
    weft::run_batch(*backend, *program, {work.jobs.data(), 1});
    CHECK(work.right());
    CHECK(backend->counters().validation_messages == 0);
}

TEST_CASE("lifetime: a child may make its own backend") {
    std::optional<Backend> backend = make_backend();
    if (!backend) return;
    check_usable(*backend);
    CHECK(run_case("child: works") == 0);
}

#endif

TEST_CASE("child: works") {
    on_device([](Backend& backend) { check_usable(backend); });
}

TEST_CASE("lifetime: sets that served a program with more buffers refer to no destroyed buffer") {
    on_device([](weft::Backend& backend) {
        constexpr auto kField = weft::Field::bls12_381_fp;
        weft::HostBuffer<std::uint64_t> a(backend, 6 * 64), out(backend, a.size());
        std::fill(a.begin(), a.end(), 1);
        std::optional<weft::HostBuffer<std::uint64_t>> gone(std::in_place, backend, a.size());
        const auto part = [](auto& buffer, std::size_t elements) {
            return buffer.span().first(6 * elements);
        };
        for (std::size_t n = 1; n <= 40; ++n)
            weft::field_add(backend, kField, part(a, n), part(a, n), part(*gone, n));
        for (std::size_t n = 1; n <= 40; ++n) weft::field_neg(backend, kField, part(a, n), part(out, n));
        gone.reset();
        for (std::size_t n = 1; n <= 40; ++n) weft::field_neg(backend, kField, part(a, n), part(out, n));
        CHECK(backend.counters().validation_messages == 0);
    });
}
