// SPDX-License-Identifier: Apache-2.0
// The ends of objects, processes and waits: in any order, in a forked child, by exit(), too early.
#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

#include <weft/weft.hpp>

#include "soak/scale.hpp"
#include "support/child_process.hpp"
#include "support/gpu_fixture.hpp"
#include "support/shader_jobs.hpp"

using namespace weft_test;
using std::chrono::nanoseconds;
using weft::Backend;
using weft::Errc;
using weft::Program;

namespace {

struct SlowParameters {
    std::uint32_t rounds;
};

/// A job that keeps the device busy for a while.
struct SlowWork {
    explicit SlowWork(std::uint32_t r = 2000, std::size_t n = 4096) : in(words(n)), out(n), rounds(r) {
        job.inputs = {in};
        job.outputs = {out};
        job.elements = n;
        job.parameters = SlowParameters{rounds};
    }
    bool right() const { return out.back() == slow_result(in.back(), rounds); }
    std::vector<std::uint32_t> in, out;
    std::uint32_t rounds;
    weft::Job job;
};

/// One object of each type, with work under way.
struct Everything {
    explicit Everything(std::vector<std::byte>& memory, SlowWork& work)
        : backend(std::in_place, config()),
          program(std::in_place, *backend, kSlow),
          a(std::in_place, *backend, 4096),
          b(std::in_place, *backend, 4096),
          host(std::in_place, *backend, 4096),
          stream(std::in_place, *backend),
          pipeline(std::in_place, *backend, *program) {
        if (backend->device().import_host_memory) registration.emplace(*backend, memory);
        stream->fill(a->view(), 3);
        stream->dispatch(*program, {*a, *b}, 4096, SlowParameters{300});
        stream->copy(b->view(), host->view());
        stream->submit();
        pipeline->submit(work.job);
        stream->dispatch(*program, {*a, *b}, 4096, SlowParameters{1});  // recorded, never submitted
    }
    static weft::Config config() {
        weft::Config config = weft::Config::from_env();
        config.validation = weft::Validation::off;
        return config;
    }
    static constexpr int kParts = 8;
    void destroy(int part) {
        switch (part) {
            case 0:
                return backend.reset();
            case 1:
                return program.reset();
            case 2:
                return a.reset();
            case 3:
                return b.reset();
            case 4:
                return host.reset();
            case 5:
                return stream.reset();
            case 6:
                return pipeline.reset();
            default:
                return registration.reset();
        }
    }
    std::optional<Backend> backend;
    std::optional<Program> program;
    std::optional<weft::Buffer<std::uint32_t>> a, b;
    std::optional<weft::HostBuffer<std::uint32_t>> host;
    std::optional<weft::Stream> stream;
    std::optional<weft::JobPipeline> pipeline;
    std::optional<weft::HostRegistration> registration;
};

}  // namespace

TEST_CASE("endings: every order of destruction, with work under way") {
    if (!make_backend()) return;
    // All 40320 orders would take an hour. A step without a common factor with 40320 gives every pair in both
    // orders.
    const std::size_t step = full_soak() ? 7 : 331;
    std::array<int, Everything::kParts> order;
    std::iota(order.begin(), order.end(), 0);
    std::size_t index = 0, tried = 0;
    std::vector<std::byte> memory(1 << 16);
    do {
        if (index++ % step != 0) continue;
        SlowWork work(50);
        Everything everything(memory, work);
        for (const int part : order) everything.destroy(part);
        ++tried;
    } while (std::next_permutation(order.begin(), order.end()));
    CHECK(tried > 100);
    on_device([](Backend& backend) { check_usable(backend); });
}

TEST_CASE("endings: objects that were moved from refuse by name, take new values, and can be destroyed") {
    on_device([](Backend& backend) {
        const Program program(backend, kAffine);
        SlowWork work(1);
        weft::Stream stream(backend);
        weft::Buffer<std::uint32_t> buffer(backend, 64);
        weft::HostBuffer<std::uint32_t> host(backend, 64);
        weft::JobPipeline pipeline(backend, program);
        Program copy(program);
        weft::Sequence sequence = stream.record([&](weft::Stream& s) { s.fill(buffer.view(), 1); });
        weft::Event event = stream.submit();

        weft::Stream stream2(std::move(stream));
        weft::Buffer<std::uint32_t> buffer2(std::move(buffer));
        weft::HostBuffer<std::uint32_t> host2(std::move(host));
        weft::JobPipeline pipeline2(std::move(pipeline));
        Program program2(std::move(copy));
        weft::Sequence sequence2(std::move(sequence));
        weft::Event event2(std::move(event));
        // NOLINTBEGIN(bugprone-use-after-move): this is what the case tests
        const struct {
            const char* text;
            std::function<void()> call;
        } kCalls[] = {
            {"Stream: used after", [&] { stream.submit(); }},
            {"Stream: used after", [&] { stream.wait(); }},
            {"Stream: used after", [&] { stream.fill(buffer2.view(), 1); }},
            {"Stream: used after", [&] { stream.replay(sequence2); }},
            {"Stream: used after", [&] { stream.record([](weft::Stream&) {}); }},
            {"Stream: used after", [&] { stream.wait_for(event2); }},
            {"Stream: used after", [&] { (void)stream.device(); }},
            {"buffer was moved from", [&] { stream2.fill(buffer.view(), 1); }},
            {"buffer was moved from", [&] { stream2.copy(host.view(), buffer2.view()); }},
            {"Program: used after", [&] { (void)copy.name(); }},
            {"Program: used after",
             [&] {
                 weft::run_batch(backend, copy, {&work.job, 1});
             }},
            {"JobPipeline: used after", [&] { pipeline.submit(work.job); }},
            {"JobPipeline: used after", [&] { pipeline.wait_all(); }},
            {"JobPipeline: used after", [&] { (void)pipeline.report(); }},
            {"Sequence: used after", [&] { stream2.replay(sequence); }},
            {"Sequence: used after", [&] { (void)sequence.steps(); }},
            {"Sequence: used after", [&] { stream2.replay(weft::Sequence(sequence)); }},
            {"Event: used after", [&] { (void)event.done(); }},
            {"Event: used after", [&] { event.wait(); }},
            {"Event: used after", [&] { stream2.wait_for(event); }},
        };
        for (const auto& c : kCalls) check_error(Errc::invalid_argument, c.text, c.call);
        CHECK(host.data() == nullptr);
        stream2.replay(weft::Sequence());  // of no steps
        CHECK(weft::Event().done());
        event = std::move(event2);
        CHECK(event.wait());
        stream = std::move(stream2);
        buffer = std::move(buffer2);
        host = std::move(host2);
        pipeline = std::move(pipeline2);
        copy = program2;
        sequence = std::move(sequence2);
        stream.replay(sequence);
        CHECK(stream.download(buffer)[63] == 1);
        // NOLINTEND(bugprone-use-after-move)
    });
}

TEST_CASE("endings: waits that expire report it, and the same wait ends later") {
    on_device([](Backend& backend) {
        const Program program(backend, kSlow);
        SlowWork work(20000, 16384);
        weft::JobPipeline pipeline(backend, program);
        const weft::JobToken token = pipeline.submit(work.job);
        std::size_t expired = 0;
        for (const nanoseconds limit : {nanoseconds(-5), nanoseconds(0), nanoseconds(1), nanoseconds(1000)})
            expired += pipeline.wait(token, limit) ? 0u : 1u;
        CHECK(expired > 0);
        while (!pipeline.wait(token, std::chrono::microseconds(300))) ++expired;
        CHECK(work.right());
        CHECK(pipeline.wait(token, nanoseconds(0)));

        weft::Stream stream(backend);
        weft::Buffer<std::uint32_t> in(backend, work.in.size()), out(backend, work.in.size());
        stream.upload(work.in, in);
        stream.dispatch(program, {in, out}, work.in.size(), SlowParameters{20000});
        const weft::Event event = stream.submit();
        expired = 0;
        expired += event.wait(nanoseconds(0)) ? 0u : 1u;
        expired += stream.wait(nanoseconds(1)) ? 0u : 1u;
        CHECK(expired > 0);
        while (!event.wait(std::chrono::microseconds(100))) ++expired;
        CHECK(stream.wait(nanoseconds(0)));
        CHECK(stream.download(out) == work.out);
    });
}

#if !defined(__SANITIZE_THREAD__)

TEST_CASE("endings: fork in the middle of batches and pipelines, the child refuses, the parent continues") {
    std::optional<Backend> backend = make_backend();
    if (!backend) return;
    const Program program(*backend, kAffine);
    weft::JobPipeline pipeline(*backend, program, {.path = weft::Path::staged});
    std::atomic<bool> stop{false};
    std::string failure;
    std::thread busy([&] {
        try {
            while (!stop) {
                AffineWork work({100000, 5});
                weft::run_batch(*backend, program, work.jobs, {.path = weft::Path::staged});
                if (!work.right()) failure = "wrong result";
            }
        } catch (const std::exception& error) {
            failure = error.what();
        }
    });
    for (int round = 0; round < 15; ++round) {
        AffineWork work({30000, 40000});
        const weft::JobToken first = pipeline.submit(work.jobs[0]), second = pipeline.submit(work.jobs[1]);
        const pid_t child = fork();
        if (child == 0) {
            int refused = 0;
            const auto refuses = [&](auto&& call) {
                try {
                    call();
                } catch (const weft::Error& error) {
                    refused += error.code() == Errc::unsupported ? 1 : 0;
                }
            };
            refuses([&] { pipeline.wait(first); });
            refuses([&] { pipeline.submit(work.jobs[0]); });
            refuses([&] { weft::run_batch(*backend, program, work.jobs); });
            refuses([&] { backend->wait_idle(); });
            { const weft::JobPipeline gone(std::move(pipeline)); }
            backend.reset();
            _exit(40 + refused);
        }
        CHECK(await_exit(child) == 44);
        pipeline.wait(first);
        pipeline.wait(second);
        CHECK(work.right());
    }
    stop = true;
    busy.join();
    CHECK(failure == "");
}

#endif

namespace {

/// Ends the process by `leave` while a batch, a stream and a pipeline run; the objects live as long as
/// globals.
[[noreturn]] void leave_busy(const std::function<void()>& leave) {
    static std::vector<std::byte> memory(1 << 16);
    static SlowWork work(20000, 16384);
    static Everything everything(memory, work);
    // Other threads of the process still run: the main thread is inside a batch.
    static const auto start = [] {
        SlowWork* batch = new SlowWork(5000);
        const Program program(*everything.backend, kSlow);
        for (;;) weft::run_batch(*everything.backend, program, {&batch->job, 1});
    };
    std::thread(start).detach();
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    leave();
    for (;;) pause();
}

}  // namespace

/// Destroyed after the handlers of exit() that drivers register.
static std::optional<Everything> early;

TEST_CASE("child: exit destroys a global that was filled later") {
    static std::vector<std::byte> memory(1 << 16);
    static SlowWork work(20000, 16384);
    early.emplace(memory, work);
    std::exit(17);
}

TEST_CASE("child: exit from the main thread") {
    std::vector<std::byte> memory(1 << 16);
    SlowWork work(20000, 16384);
    Everything everything(memory, work);
    std::exit(17);
}

TEST_CASE("child: exit from another thread inside a batch") {
    std::vector<std::byte> memory(1 << 16);
    SlowWork work(20000, 16384);
    Everything everything(memory, work);
    std::thread([] { std::exit(17); }).detach();
    for (;;) weft::run_batch(*everything.backend, *everything.program, {&work.job, 1});
}

TEST_CASE("child: exit destroys static objects while their work runs") {
    static std::vector<std::byte> memory(1 << 16);
    static SlowWork work(20000, 16384);
    static Everything everything(memory, work);
    std::exit(17);
}

TEST_CASE("child: quick_exit while a batch and a pipeline run") {
    leave_busy([] { std::quick_exit(17); });
}

TEST_CASE("child: exit in the progress callback of a static pipeline") {
    static Backend backend;
    static const Program program(backend, kSlow);
    static SlowWork work(10);
    static weft::JobPipeline pipeline(backend, program,
                                      {.progress = [](const weft::Progress&) { std::exit(17); }});
    pipeline.wait(pipeline.submit(work.job));
    for (;;) pause();
}

TEST_CASE("child: a pipeline that its own callback destroys") {
    Backend backend;
    const Program program(backend, kSlow);
    SlowWork work(10);
    std::atomic<bool> destroyed{false};
    std::optional<weft::JobPipeline> pipeline;
    pipeline.emplace(backend, program, weft::BatchOptions{.progress = [&](const weft::Progress&) {
                         pipeline.reset();
                         destroyed = true;
                     }});
    pipeline->submit(work.job);
    while (!destroyed) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    std::exit(17);
}

TEST_CASE("child: the end of main with everything in a leaked object") {
    static auto* memory = new std::vector<std::byte>(1 << 16);
    static auto* work = new SlowWork(20000, 16384);
    static auto* everything = new Everything(*memory, *work);
    CHECK(everything->backend->counters().submissions > 0);
}

TEST_CASE("endings: a pipeline's own callback may not wait for it") {
    if (!make_backend()) return;
    Backend backend;
    const Program program(backend, kSlow);
    SlowWork work(10);
    weft::JobPipeline* self = nullptr;
    std::vector<std::string> texts;
    const auto text_of = [&](const std::function<void()>& call) {
        try {
            call();
        } catch (const weft::Error& error) {
            texts.emplace_back(error.what());
        }
    };
    weft::JobToken token{};
    std::atomic<bool> ready{false};
    weft::JobPipeline pipeline(backend, program, {.progress = [&](const weft::Progress&) {
                                   while (!ready) std::this_thread::yield();
                                   text_of([&] { self->wait(token); });
                                   text_of([&] { self->wait_all(); });
                               }});
    self = &pipeline;
    token = pipeline.submit(work.job);
    ready = true;
    pipeline.wait(token);
    REQUIRE(texts.size() == 2);
    CHECK(texts[0].find("JobPipeline::wait: called by the progress callback") == 0);
    CHECK(texts[1].find("JobPipeline::wait_all: called by the progress callback") == 0);
}

TEST_CASE("endings: exit with work under way neither hangs nor crashes") {
    if (!make_backend()) return;
    const struct {
        const char* name;
        int status;
    } kCases[] = {
        {"child: exit from the main thread", 17},
        {"child: exit destroys a global that was filled later", 17},
        {"child: exit from another thread inside a batch", 17},
        {"child: exit destroys static objects while their work runs", 17},
        {"child: quick_exit while a batch and a pipeline run", 17},
        {"child: exit in the progress callback of a static pipeline", 17},
        {"child: a pipeline that its own callback destroys", 17},
        {"child: the end of main with everything in a leaked object", 0},
    };
    for (const auto& c : kCases)
        for (std::size_t round = 0; round < scaled(3, 50); ++round) {
            CAPTURE(std::string(c.name));
            CHECK(run_case(c.name) == c.status);
        }
}
