// SPDX-License-Identifier: Apache-2.0
// The host's memory runs out at every allocation, once or from then on: no leak, no crash, no hang, and the
// backend continues to work.
#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fault/failing_allocations.hpp"
#include "fault/script.hpp"

using namespace weft_test;

namespace {

/// Objects that are made before anything fails, and are used repeatedly.
struct World {
    explicit World(const ScriptKind& k) : kind(k), backend(fault_config()), program(backend, kAffine) {}

    const ScriptKind& kind;
    weft::Backend backend;
    weft::Program program;
    AffineWork work{{300, 1, 700}};
    std::vector<std::uint32_t> in = words(100), out = std::vector<std::uint32_t>(100);
    weft::Buffer<std::uint32_t> a{backend, 100}, b{backend, 100};

    weft::BatchOptions options() const {
        return {.mode = weft::BatchMode::pipelined,
                .path = kind.path,
                .queues = kind.queues,
                .chunk_elements = 256,
                .ring_slots = 2,
                .stage_times = weft::Choice::on};
    }
    void forget() {
        work.clear();
        std::fill(out.begin(), out.end(), 0);
    }
    bool streamed() const {
        for (std::uint32_t i = 0; i < 100; ++i)
            if (out[i] != in[i] * 2 + 3 + i) return false;
        return true;
    }
};

void run_batch(World& w) {
    weft::run_batch(w.backend, w.program, w.work.jobs, w.options());
}

void run_pipeline(World& w) {
    weft::JobPipeline pipeline(w.backend, w.program, w.options());
    for (const weft::Job& job : w.work.jobs) pipeline.submit(job);
    pipeline.wait_all();
}

void run_stream(World& w) {
    weft::Stream stream(w.backend, {.name = "a name that is longer than a string holds in itself"});
    stream.upload(w.in, w.a);
    stream.fill(w.b.view(), 7);
    stream.dispatch(w.program, {w.a, w.b}, 100, AffineParameters{2, 3});
    stream.submit().wait();
    stream.download<std::uint32_t>(w.b.view(), w.out);
}

void run_sequence(World& w) {
    weft::Stream stream(w.backend);
    stream.upload(w.in, w.a);
    const weft::Sequence sequence = stream.record([&](weft::Stream& s) {
        s.fill(w.b.view(), 7);
        s.dispatch(w.program, {w.a, w.b}, 100, AffineParameters{2, 3});
    });
    stream.replay(sequence);
    stream.replay(sequence).wait();
    stream.download<std::uint32_t>(w.b.view(), w.out);
}

void run_buffers(World& w) {
    const weft::Buffer<std::uint32_t> buffer(w.backend, 100, "a name that a string cannot hold in itself");
    const weft::HostBuffer<std::uint32_t> host(w.backend, 100);
    (void)w.backend.memory();
}

template <void (*run)(World&)>
void profiled(World& w) {
    const weft::Profile profile(w.backend);
    run(w);
    (void)profile.report().to_json();
}

struct Scenario {
    const char* name;
    void (*run)(World&);
    bool (*right)(const World&);
};

bool batch_right(const World& w) {
    return w.work.right();
}
bool stream_right(const World& w) {
    return w.streamed();
}
bool always(const World&) {
    return true;
}

constexpr Scenario kScenarios[] = {
    {"batch", run_batch, batch_right},
    {"pipeline", run_pipeline, batch_right},
    {"stream", run_stream, stream_right},
    {"sequence", run_sequence, stream_right},
    {"buffers", run_buffers, always},
    {"profiled batch", profiled<run_batch>, batch_right},
    {"profiled stream", profiled<run_stream>, stream_right},
    {"profiled sequence", profiled<run_sequence>, stream_right},
};

std::string living() {
    std::string all;
    for (const weft_fault::Live& live : control().live())
        all += live.type + " " + std::to_string(live.count) + "; ";
    return all;
}

/// Injects one failure. Returns false if the scenario ended before it, so nothing failed.
bool survives(World& w, const Scenario& scenario, std::int64_t index, bool from_there_on) {
    w.forget();
    std::string error;
    begin_counting(index, from_there_on);
    try {
        scenario.run(w);
    } catch (const weft::Error& e) {
        const bool failed = end_counting();
        error = e.what();
        CHECK(failed);
        CHECK(e.code() == weft::Errc::out_of_memory);
    } catch (const std::bad_alloc&) {
        end_counting();
        error = "std::bad_alloc";
    }
    const bool failed = end_counting();
    CAPTURE(error);
    CHECK((failed || error.empty()));
    if (error.empty()) CHECK(scenario.right(w));  // the failed allocation was not essential
    w.forget();
    scenario.run(w);
    CHECK(scenario.right(w));
    w.backend.trim();
    CHECK(w.backend.memory().live_buffers == 2);
    return failed;
}

void run_all(const ScriptKind& kind, const Scenario& scenario, bool from_there_on, std::int64_t step) {
    const std::string what = std::string(kind.name) + ", " + scenario.name;
    CAPTURE(what);
    const Watchdog watchdog(what);
    control().reset();
    known_control = &control();
    {
        World w(kind);
        scenario.run(w);
        w.backend.trim();
        const std::string before = living();
        std::int64_t index = 0;
        for (; survives(w, scenario, index, from_there_on); index += step) {
            CAPTURE(index);
            REQUIRE(living() == before);
        }
        const std::string how = from_there_on ? ", for ever: " : ", once: ";
        MESSAGE(what << how << index << " allocations");
        CHECK(index > 2);  // the scenario does allocate
    }
    check_nothing_left();
}

}  // namespace

TEST_CASE("host memory: each allocation of every kind of work fails once") {
    for (const Scenario& scenario : kScenarios) run_all(kScripts[0], scenario, false, 1);
    for (const Scenario& scenario : {kScenarios[0], kScenarios[5]})
        for (const ScriptKind& kind : {kScripts[1], kScripts[2]}) run_all(kind, scenario, false, 1);
}

TEST_CASE("host memory: it runs out on a pipeline's own thread") {
    // On that thread the counting begins when the first job is done.
    const Watchdog watchdog("pipeline's own thread");
    control().reset();
    known_control = &control();
    for (const bool from_there_on : {false, true}) {
        CAPTURE(from_there_on);
        World w(kScripts[0]);
        run_pipeline(w);
        std::int64_t index = 0;
        for (bool failed = true; failed; ++index) {
            CAPTURE(index);
            w.forget();
            has_failed = false;
            weft::BatchOptions options = w.options();
            options.progress = [&](const weft::Progress& now) {
                if (now.done == 1) begin_counting(index, from_there_on);
            };
            std::size_t done = 0;
            {
                weft::JobPipeline pipeline(w.backend, w.program, options);
                for (std::size_t i = 0; i < w.work.jobs.size(); ++i) {
                    std::optional<weft::JobToken> token;
                    try {
                        token = pipeline.submit(w.work.jobs[i]);
                        pipeline.wait(*token);
                        CHECK(w.work.right(i));
                        ++done;
                    } catch (const std::bad_alloc&) {
                        // The job failed, or the pipeline reports that it has ended.
                        if (token) CHECK(pipeline.state(*token) == weft::JobState::failed);
                    } catch (const weft::Error& e) {
                        CHECK(e.code() == weft::Errc::out_of_memory);
                    }
                }
            }
            failed = has_failed;
            CHECK((failed || done == w.work.jobs.size()));
            w.forget();
            run_pipeline(w);
            CHECK(w.work.right());
        }
        CHECK(index > 2);
    }
    check_nothing_left();
}

TEST_CASE("host memory: all allocations fail from each one on") {
    for (const Scenario& scenario : kScenarios) run_all(kScripts[0], scenario, true, 1);
}
