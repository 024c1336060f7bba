// SPDX-License-Identifier: Apache-2.0
// A short script that uses each function of a backend once; tests inject failures into its calls.
#pragma once

#include <vector>

#include "fault/fixture.hpp"

namespace weft_test {

/// The path of the batches of a script.
struct ScriptKind {
    const char* name;
    weft::Path path;
    weft::QueueMode queues;
};

inline void batches(weft::Backend& backend, const weft::Program& program, const ScriptKind& kind) {
    AffineWork work({300, 1, 700});
    weft::BatchOptions options{.mode = weft::BatchMode::sequential,
                               .path = kind.path,
                               .queues = kind.queues,
                               .ring_slots = 2,
                               .stage_times = weft::Choice::on};
    weft::run_batch(backend, program, work.jobs, options);
    CHECK(work.right());
    work.clear();
    options.mode = weft::BatchMode::pipelined;
    options.chunk_elements = 256;
    weft::run_batch(backend, program, work.jobs, options);
    CHECK(work.right());
}

inline void pipeline(weft::Backend& backend, const weft::Program& program, const ScriptKind& kind) {
    AffineWork work({100, 200, 300});
    {
        weft::JobPipeline jobs(backend, program, {.path = kind.path, .queues = kind.queues, .ring_slots = 2});
        for (const weft::Job& job : work.jobs) jobs.submit(job);
        jobs.wait_all();
    }
    CHECK(work.right());
}

inline void stream(weft::Backend& backend, const weft::Program& program) {
    weft::Stream stream(backend);
    const auto in = words(100);
    weft::Buffer<std::uint32_t> a(backend, 100), b(backend, 100), c(backend, 100);
    stream.upload(in, a);
    stream.fill(c.view(), 7);
    stream.dispatch(program, {a, b}, 100, AffineParameters{2, 3});
    stream.copy(b.view(0, 50), c.view(50, 50));
    stream.submit();
    const bool done = stream.wait();
    CHECK(done);
    const weft::Sequence sequence = stream.record([&](weft::Stream& s) {
        s.fill(b.view(), 1);
        s.dispatch(program, {b, c.view(0, 100)}, 10, AffineParameters{4, 1});
        s.copy(b.view(0, 50), c.view(50, 50));
    });
    weft::Stream other(backend);
    other.wait_for(stream.replay(sequence));
    const weft::Event event = other.replay(sequence);
    const bool reached = event.wait();
    CHECK(reached);
    const auto replayed = stream.download(c);
    CHECK(replayed[9] == 4 + 1 + 9);
    CHECK(replayed[99] == 1);
    stream.fill(c.view(0, 50), 7);
    stream.dispatch(program, {a, b}, 100, AffineParameters{2, 3});
    stream.copy(b.view(0, 50), c.view(50, 50));
    const auto out = stream.download(c);
    CHECK(out[49] == 7);
    CHECK(out[50] == in[0] * 2 + 3);
}

/// Throws the errors of weft; results of calls that do not throw must be right.
inline void script(weft::Backend& backend, const ScriptKind& kind) {
    const weft::Program program(backend, kAffine);
    {
        weft::HostBuffer<std::uint32_t> in(backend, 200), out(backend, 200);
        std::fill(in.begin(), in.end(), 5);
        weft::Job job{
            .inputs = {in}, .outputs = {out}, .elements = 200, .parameters = AffineParameters{2, 1}};
        weft::run_batch(backend, program, {&job, 1},
                        {.path = kind.path, .queues = kind.queues, .ring_slots = 2});
        CHECK(out[199] == 5 * 2 + 1 + 199);
    }
    batches(backend, program, kind);
    pipeline(backend, program, kind);
    stream(backend, program);
    (void)backend.memory();
    backend.trim();
    backend.wait_idle();
}

inline constexpr ScriptKind kScripts[] = {
    {"staged, split", weft::Path::staged, weft::QueueMode::split},
    {"as planned", weft::Path::automatic, weft::QueueMode::automatic},
    {"imported, single", weft::Path::imported, weft::QueueMode::single},
};

}  // namespace weft_test
