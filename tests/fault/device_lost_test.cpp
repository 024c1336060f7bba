// SPDX-License-Identifier: Apache-2.0
// The device is lost at every call that may report it: all pending work ends, later calls report the loss,
// and everything is freed.
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "fault/script.hpp"

using namespace weft_test;
using weft::Errc;
using weft::JobState;
using weft_fault::Calls;
using weft_fault::LostWaits;
using weft_fault::Rule;

namespace {

/// Objects that a user may still hold when the device is lost.
struct Held {
    explicit Held(weft::Backend& backend)
        : program(backend, kAffine), a(backend, 64), b(backend, 64), host(backend, 64), stream(backend) {}
    weft::Program program;
    weft::Buffer<std::uint32_t> a, b;
    weft::HostBuffer<std::uint32_t> host;
    weft::Stream stream;
};

/// Every call on a lost backend must report the loss; calls that need no device still work.
void check_dead(weft::Backend& backend, Held& held) {
    AffineWork work({100});
    std::vector<std::byte> memory(1 << 16);
    const std::vector<std::function<void()>> calls = {
        [&] { weft::run_batch(backend, held.program, work.jobs); },
        [&] { check_usable(backend); },
        [&] { weft::Buffer<int> buffer(backend, 1); },
        [&] { weft::HostBuffer<int> buffer(backend, 1); },
        [&] { weft::HostRegistration registration(backend, memory); },
        [&] { weft::Program program(backend, kInPlace); },
        [&] { weft::Stream stream(backend); },
        [&] { weft::JobPipeline pipeline(backend, held.program); },
        [&] { held.stream.fill(held.a.view(), 1); },
        [&] {
            held.stream.dispatch(held.program, {held.a, held.b}, 64, AffineParameters{1, 1});
        },
        [&] { held.stream.submit(); },
        [&] { held.stream.wait(); },
        [&] { held.stream.download(held.a); },
        [&] { backend.wait_idle(); },
    };
    for (std::size_t i = 0; i < calls.size(); ++i) {
        CAPTURE(i);
        check_error(Errc::device_lost, ":", calls[i]);
    }
    CHECK(work.untouched());
    held.host[63] = 9;
    CHECK(held.host[63] == 9);
    (void)backend.memory();
    (void)backend.counters();
    backend.trim();
    CHECK(!backend.name().empty());
}

bool survives(const Rule& rule, const ScriptKind& kind) {
    const std::string what = std::string(kind.name) + ", lost at call " + std::to_string(rule.index);
    CAPTURE(what);
    const Watchdog watchdog(what);
    control().reset();
    bool lost = false;
    {
        std::optional<weft::Backend> backend(std::in_place, fault_config());
        std::optional<Held> held(std::in_place, *backend);
        control().fail(rule);
        try {
            script(*backend, kind);
        } catch (const weft::Error& error) {
            INFO("failed function: " << control().failed() << ", error: " << std::string(error.what()));
            CHECK(error.code() == Errc::device_lost);
            lost = true;
        }
        // A result that arrives in spite of the loss must be right, which the script checks; later calls
        // report the loss.
        if (!control().failed().empty() && !lost) {
            check_error(Errc::device_lost, ":", [&] { script(*backend, kind); });
            lost = true;
        }
        INFO("failed function: " << control().failed());
        if (lost) check_dead(*backend, *held);
        if (rule.index % 2 == 0) held.reset();
        backend.reset();
    }
    INFO("failed function: " << control().failed());
    check_nothing_left();
    return lost;
}

void lose_everywhere(LostWaits waits) {
    for (const ScriptKind& kind : kScripts) {
        std::uint64_t index = 0;
        while (survives({.calls = Calls::may_lose,
                         .index = index,
                         .result = weft_fault::kDeviceLost,
                         .lost_waits = waits},
                        kind))
            ++index;
        MESSAGE(std::string(kind.name) << ": " << index << " calls");
        CHECK(index > 15);
    }
}

/// The device is lost at the `index`-th such call while many jobs are queued and running.
bool tokens_end(std::uint64_t index, weft::QueueMode queues, LostWaits waits) {
    const Watchdog watchdog("pipeline, lost at call " + std::to_string(index));
    CAPTURE(index);
    control().reset();
    bool lost = false;
    {
        weft::Backend backend(fault_config());
        const weft::Program program(backend, kAffine);
        AffineWork work(std::vector<std::size_t>(80, 100));
        weft::JobPipeline pipeline(backend, program,
                                   {.path = weft::Path::staged, .queues = queues, .ring_slots = 2});
        control().fail({.calls = Calls::may_lose,
                        .index = index,
                        .result = weft_fault::kDeviceLost,
                        .lost_waits = waits});
        std::vector<weft::JobToken> tokens;
        bool refused = false;
        for (const weft::Job& job : work.jobs) {
            try {
                tokens.push_back(pipeline.submit(job));
            } catch (const weft::Error& error) {
                CHECK(error.code() == Errc::device_lost);
                refused = true;
            }
        }
        std::size_t done = 0;
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            try {
                const bool in_time = pipeline.wait(tokens[i]);
                CHECK(in_time);
                CHECK(work.right(i));
                CHECK(pipeline.state(tokens[i]) == JobState::done);
                ++done;
            } catch (const weft::Error& error) {
                CHECK(error.code() == Errc::device_lost);
                CHECK(pipeline.state(tokens[i]) == JobState::failed);
                CHECK(!pipeline.cancel(tokens[i]));
                lost = true;
            }
        }
        CHECK(pipeline.report().jobs == done);
        lost = lost || refused;
        if (lost) {
            check_error(Errc::device_lost, ":", [&] { pipeline.submit(work.jobs[0]); });
            check_error(Errc::device_lost, ":", [&] { weft::run_batch(backend, program, work.jobs); });
        }
    }
    check_nothing_left();
    return lost;
}

}  // namespace

TEST_CASE("lost: at each call that may report it, waits report it too") {
    lose_everywhere(LostWaits::say_lost);
}

TEST_CASE("lost: at each call that may report it, waits end with success") {
    lose_everywhere(LostWaits::succeed);
}

TEST_CASE("lost: at each call that may report it, waits always time out") {
    lose_everywhere(LostWaits::time_out);
}

TEST_CASE("lost: every token of a pipeline ends") {
    for (const weft::QueueMode queues : {weft::QueueMode::single, weft::QueueMode::split})
        for (const LostWaits waits : {LostWaits::say_lost, LostWaits::succeed, LostWaits::time_out}) {
            std::uint64_t index = 0;
            while (tokens_end(index, queues, waits)) ++index;
            CHECK(index > 5);
        }
}

TEST_CASE("lost: creating the device reports the loss, and the next backend works") {
    const Watchdog watchdog("create");
    control().reset();
    control().fail({.calls = Calls::named, .function = "vkCreateDevice", .result = weft_fault::kDeviceLost});
    check_error(Errc::device_lost, "vkCreateDevice", [] { weft::Backend backend(fault_config()); });
    check_nothing_left();
    weft::Backend backend(fault_config());
    check_usable(backend);
}

TEST_CASE("lost: another backend works next to the lost one and after it") {
    const Watchdog watchdog("beside");
    control().reset();
    {
        weft::Backend lost(fault_config()), other(fault_config());
        control().fail({.calls = Calls::may_lose, .result = weft_fault::kDeviceLost});
        check_error(Errc::device_lost, ":", [&] { check_usable(lost); });
        check_usable(other);
        weft::Backend third(fault_config());
        check_usable(third);
        check_error(Errc::device_lost, ":", [&] { check_usable(lost); });
    }
    check_nothing_left();
}

TEST_CASE("lost: threads that wait when another one loses the device all end") {
    const Watchdog watchdog("threads");
    control().reset();
    {
        weft::Backend backend(fault_config());
        const weft::Program program(backend, kAffine);
        std::atomic<int> ended{0};
        std::vector<std::thread> threads;
        for (int t = 0; t < 6; ++t)
            threads.emplace_back([&, t] {
                try {
                    for (;;) {
                        AffineWork work({5000}, static_cast<std::uint32_t>(t));
                        weft::run_batch(backend, program, work.jobs,
                                        {.path = weft::Path::staged, .queues = weft::QueueMode::split});
                        if (!work.right()) return;
                    }
                } catch (const weft::Error& error) {
                    if (error.code() == Errc::device_lost) ++ended;
                }
            });
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        control().fail({.calls = Calls::may_lose,
                        .index = 20,
                        .result = weft_fault::kDeviceLost,
                        .lost_waits = LostWaits::time_out});
        for (std::thread& thread : threads) thread.join();
        CHECK(ended == 6);
    }
    check_nothing_left();
}

TEST_CASE("lost: work that cannot be waited for is not freed, and the backend is unusable") {
    const Watchdog watchdog("wedged");
    control().reset();
    {
        weft::Backend backend(fault_config());
        const weft::Program program(backend, kAffine);
        AffineWork work({5000});
        control().fail({.calls = Calls::named, .function = "vkWaitSemaphores", .for_ever = true});
        check_error(Errc::out_of_memory, "vkWaitSemaphores",
                    [&] { weft::run_batch(backend, program, work.jobs, {.path = weft::Path::staged}); });
        control().fail_no_more();
        check_error(Errc::device_lost, ":", [&] { check_usable(backend); });
    }
    // Memory that the device may still use is not freed: a leak is better than a crash.
    CHECK(!control().live().empty());
    CHECK(control().violations().empty());
    control().forget_living();
}
