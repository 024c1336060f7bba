// SPDX-License-Identifier: Apache-2.0
// Profiles of streams: each step is counted once and under its stream, whichever thread waits for it and
// when.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/gpu_fixture.hpp"
#include "support/scratch_folder.hpp"
#include "support/shader_jobs.hpp"

using namespace weft_test;
namespace fs = std::filesystem;
using weft::Buffer;
using weft::HostBuffer;
using weft::Profile;
using weft::ProfileReport;
using weft::Program;
using weft::Sequence;
using weft::Stage;
using weft::Stream;
using weft::WorkTimes;
using Words = std::vector<std::uint32_t>;

namespace {

constexpr std::uint32_t kCount = 4096;
constexpr std::uint64_t kBytes = kCount * sizeof(std::uint32_t);

const WorkTimes* kernel(const ProfileReport& report, const std::string& program) {
    for (const auto& k : report.kernels)
        if (k.program == program) return &k.times;
    return nullptr;
}

std::uint64_t dispatches(const ProfileReport& report, const std::string& program) {
    const WorkTimes* times = kernel(report, program);
    return times != nullptr ? times->count : 0;
}

std::optional<std::uint64_t> events_of(const ProfileReport& report, const std::string& stream) {
    for (const auto& s : report.streams)
        if (s.name == stream) return s.events;
    return std::nullopt;
}

/// All work is timed if the queue has timestamps, and none otherwise.
void check_timed(const ProfileReport& report) {
    CHECK(report.dropped_events == 0);
    CHECK(report.device_s <= report.wall_s * 1.05);
    for (const Stage stage : {Stage::upload, Stage::kernel, Stage::download}) {
        const WorkTimes& t = report.stage(stage);
        CAPTURE(weft::to_string(stage));
        const bool consistent = t.untimed == 0 || t.untimed == t.count;
        CHECK(consistent);
        if (t.count != 0 && t.untimed == 0) CHECK(t.busy_s > 0);
        CHECK(t.min_s <= t.mean_s * (1 + 1e-9));
        CHECK(t.mean_s <= t.max_s * (1 + 1e-9));
    }
}

/// The result of in_place.comp for x[i] = 7 after `rounds` dispatches.
Words after_rounds(std::uint32_t rounds) {
    Words values(kCount);
    for (std::uint32_t i = 0; i < kCount; ++i) values[i] = 7 + rounds * (1000 + i);
    return values;
}

class Folder : public ScratchFolder {
  public:
    fs::path operator/(const char* name) const { return path() / name; }
};

}  // namespace

TEST_CASE("profile: every step of a stream, its bytes, its program and the stream's name") {
    on_device([](weft::Backend& backend) {
        const Program first(backend, kInPlace, {.name = "first"});
        const Program second(backend, kInPlace, {.name = "second"});  // shares the pipeline, not the name
        Buffer<std::uint32_t> x(backend, kCount), y(backend, kCount), z(backend, kCount);
        Stream stream(backend, {.name = "worker"});
        const Profile profile(backend);
        stream.upload(Words(kCount, 7), x);
        stream.fill(y.view(), 7);
        stream.copy(x.view(), z.view());
        for (int i = 0; i < 3; ++i)
            stream.dispatch(first, {x}, kCount);  // each one depends on the previous one
        stream.dispatch(second, {y}, kCount);
        stream.dispatch(second, {z}, kCount);  // independent of the previous one
        CHECK(stream.download(x) == after_rounds(3));
        CHECK(stream.download(y) == after_rounds(1));
        CHECK(stream.download(z) == after_rounds(1));
        const ProfileReport report = profile.report();
        check_timed(report);
        CHECK(dispatches(report, "first") == 3);
        CHECK(dispatches(report, "second") == 2);
        CHECK(dispatches(report, "(fill)") == 1);
        CHECK(dispatches(report, "(copy)") == 1);
        REQUIRE(report.kernels.size() == 4);
        CHECK(kernel(report, "first")->bytes == 3 * kBytes);
        CHECK(kernel(report, "second")->bytes == 2 * kBytes);
        CHECK(kernel(report, "(fill)")->bytes == kBytes);
        CHECK(kernel(report, "(copy)")->bytes == kBytes);
        CHECK(report.stage(Stage::upload).count == 1);
        CHECK(report.stage(Stage::upload).bytes == kBytes);
        CHECK(report.stage(Stage::download).count == 3);
        CHECK(report.stage(Stage::download).bytes == 3 * kBytes);
        CHECK(report.stage(Stage::copy_in).bytes == kBytes);
        CHECK(report.stage(Stage::copy_out).bytes == 3 * kBytes);
        CHECK(report.replays == 0);
        REQUIRE(report.streams.size() == 1);
        // Copy in, upload, fill, copy, three rounds, one run of two; three downloads, each copied out.
        CHECK(events_of(report, "worker") == 8 + 6);
    });
}

TEST_CASE("profile: independent dispatches of one program are one run, dependent ones are not") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kInPlace, {.name = "p"});
        std::vector<Buffer<std::uint32_t>> buffers;
        for (int i = 0; i < 10; ++i) buffers.emplace_back(backend, kCount);
        Stream stream(backend, {.name = "runs"});
        for (auto& b : buffers) stream.fill(b.view(), 7);
        stream.wait();
        const Profile profile(backend);
        for (auto& b : buffers) stream.dispatch(program, {b}, kCount);
        stream.wait();
        CHECK(events_of(profile.report(), "runs") == 1);
        CHECK(dispatches(profile.report(), "p") == 10);
        for (auto& b : buffers) stream.dispatch(program, {b}, kCount);
        for (auto& b : buffers) stream.dispatch(program, {b}, kCount);
        stream.wait();
        CHECK(events_of(profile.report(), "runs") == 3);
        CHECK(dispatches(profile.report(), "p") == 30);
        check_timed(profile.report());
        for (auto& b : buffers) CHECK(stream.download(b) == after_rounds(3));
    });
}

TEST_CASE("profile: page-locked memory that a stream copies is an upload and a download") {
    on_device([](weft::Backend& backend) {
        HostBuffer<std::uint32_t> in(backend, kCount), out(backend, kCount);
        std::fill(in.begin(), in.end(), 5);
        Buffer<std::uint32_t> x(backend, kCount);
        Stream stream(backend);
        const Profile profile(backend);
        stream.copy(in.view(), x.view());
        stream.copy(x.view(), out.view());
        stream.wait();
        CHECK(std::all_of(out.begin(), out.end(), [](std::uint32_t v) { return v == 5; }));
        const ProfileReport report = profile.report();
        check_timed(report);
        CHECK(report.stage(Stage::upload).bytes == kBytes);
        CHECK(report.stage(Stage::download).bytes == kBytes);
        CHECK(report.stage(Stage::kernel).count == 0);
        CHECK(report.stage(Stage::copy_in).count == 0);
        CHECK(events_of(report, "stream") == 2);  // a stream without a name is no batch
    });
}

TEST_CASE("profile: several simultaneous replays of a sequence that was recorded before any profile") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kInPlace, {.name = "p"});
        constexpr std::uint32_t kSteps = 4, kReplays = 30;
        Buffer<std::uint32_t> x(backend, kCount);
        Stream stream(backend, {.name = "replays"});
        stream.fill(x.view(), 7);
        const Sequence chain = stream.record([&](Stream& s) {
            for (std::uint32_t i = 0; i < kSteps; ++i) s.dispatch(program, {x}, kCount);
        });
        stream.replay(chain);
        stream.wait();
        {
            const Profile profile(backend);
            for (std::uint32_t r = 0; r < kReplays; ++r) stream.replay(chain);
            stream.wait();
            const ProfileReport report = profile.report();
            check_timed(report);
            CHECK(report.replays == kReplays);
            CHECK(dispatches(report, "(sequence)") == kReplays * kSteps);
            REQUIRE(report.kernels.size() == 1);
            CHECK(report.kernels[0].times.bytes == kReplays * kSteps * kBytes);
            CHECK(events_of(report, "replays") == kReplays);
        }
        stream.replay(chain);
        CHECK(stream.download(x) == after_rounds(kSteps * (kReplays + 2)));
    });
}

TEST_CASE("profile: begun and ended while a stream records and runs") {
    weft::Config config = weft::Config::from_env();
    config.trace.clear();  // there is no other listener
    const auto test = [](weft::Backend& backend) {
        const Program program(backend, kInPlace, {.name = "p"});
        Buffer<std::uint32_t> x(backend, kCount);
        Stream stream(backend, {.name = "s"});
        stream.fill(x.view(), 7);
        stream.dispatch(program, {x}, kCount);
        std::optional<Profile> profile(backend);
        stream.dispatch(program, {x}, kCount);  // after steps that were recorded without a profile
        stream.wait();
        CHECK(dispatches(profile->report(), "p") == 1);
        CHECK(dispatches(profile->report(), "(fill)") == 0);
        CHECK(dispatches(profile->report(), "(earlier steps)") == 2);
        CHECK(profile->report().replays == 0);
        check_timed(profile->report());
        const Sequence once = stream.record([&](Stream& s) { s.dispatch(program, {x}, kCount); });
        CHECK(dispatches(profile->report(), "(sequence)") == 0);  // recording does not run the steps
        stream.dispatch(program, {x}, kCount);
        stream.submit();
        stream.replay(once);
        profile.reset();  // while both may still run
        stream.dispatch(program, {x}, kCount);
        CHECK(stream.download(x) == after_rounds(5));
        profile.emplace(backend);
        stream.dispatch(program, {x}, kCount);
        stream.wait();
        CHECK(dispatches(profile->report(), "p") == 1);
        CHECK(profile->report().replays == 0);
    };
    on_device(test, config);
}

TEST_CASE("profile: steps recorded before it and submitted within it are counted") {
    weft::Config config = weft::Config::from_env();
    config.trace.clear();  // there is no other listener
    const auto test = [](weft::Backend& backend) {
        const Program program(backend, kInPlace, {.name = "p"});
        Buffer<std::uint32_t> x(backend, kCount);
        Stream stream(backend, {.name = "s"});
        stream.fill(x.view(), 7);
        stream.wait();
        for (int i = 0; i < 5; ++i) stream.dispatch(program, {x}, kCount);
        const Profile profile(backend);
        CHECK(dispatches(profile.report(), "(earlier steps)") == 0);  // nothing submitted yet
        stream.wait();
        const ProfileReport report = profile.report();
        CHECK(dispatches(report, "(earlier steps)") == 5);
        CHECK(dispatches(report, "p") == 0);
        CHECK(report.stage(Stage::kernel).count == 5);
        CHECK(report.stage(Stage::kernel).bytes == 5 * kBytes);
        CHECK(events_of(report, "s") == 1);
        check_timed(report);
        CHECK(stream.download(x) == after_rounds(5));
    };
    on_device(test, config);
}

TEST_CASE("profile: a stream that ends without a wait, and streams of many threads") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kInPlace, {.name = "p"});
        const Profile profile(backend);
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&, t] {
                Buffer<std::uint32_t> x(backend, kCount);
                Stream stream(backend, {.name = "thread " + std::to_string(t)});
                const Sequence one = stream.record([&](Stream& s) { s.dispatch(program, {x}, kCount); });
                for (int i = 0; i < 20; ++i) {
                    stream.dispatch(program, {x}, kCount);
                    stream.submit();
                    stream.replay(one);
                }
            });
        for (std::thread& thread : threads) thread.join();
        const ProfileReport report = profile.report();
        check_timed(report);
        CHECK(dispatches(report, "p") == 80);
        CHECK(dispatches(report, "(sequence)") == 80);
        CHECK(report.replays == 80);
        CHECK(report.streams.size() == 4);
        for (const auto& s : report.streams) CHECK(s.events == 40);
    });
}

TEST_CASE("profile: work that only an Event waited for, or no thread, counts once when the profile is read") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kInPlace, {.name = "p"});
        Buffer<std::uint32_t> x(backend, kCount), y(backend, 16);
        Stream stream(backend, {.name = "waited for"}), other(backend, {.name = "other"});
        stream.fill(x.view(), 7);
        const Sequence sequence = stream.record([&](Stream& s) { s.dispatch(program, {x}, kCount); });
        stream.wait();
        const Profile profile(backend);
        stream.dispatch(program, {x}, kCount);
        CHECK(dispatches(profile.report(), "p") == 0);  // recorded, not submitted
        stream.submit().wait();
        CHECK(dispatches(profile.report(), "p") == 1);
        stream.replay(sequence).wait();
        CHECK(dispatches(profile.report(), "(sequence)") == 1);
        stream.dispatch(program, {x}, kCount);
        stream.submit();
        stream.replay(sequence);
        other.fill(y.view(), 1);
        other.wait();  // streams of one queue run in order, so the work of the other one is done too
        for (int i = 0; i < 2; ++i) {
            CHECK(dispatches(profile.report(), "p") == 2);
            CHECK(dispatches(profile.report(), "(sequence)") == 2);
            CHECK(dispatches(profile.report(), "(fill)") == 1);
            stream.wait();  // counts nothing a second time
        }
        check_timed(profile.report());
        CHECK(stream.download(x) == after_rounds(4));
    });
}

TEST_CASE("profile: read on one thread while streams work on others") {
    on_device([](weft::Backend& backend) {
        constexpr std::uint32_t kRounds = 60, kStreams = 2;
        const Program program(backend, kInPlace, {.name = "p"});
        const Profile profile(backend);
        std::vector<Words> got(kStreams);
        std::vector<std::thread> threads;
        for (Words& words : got)
            threads.emplace_back([&backend, &program, &words] {
                Buffer<std::uint32_t> x(backend, kCount);
                Stream stream(backend);
                stream.fill(x.view(), 7);
                const Sequence again = stream.record([&](Stream& s) { s.dispatch(program, {x}, kCount); });
                for (std::uint32_t i = 0; i < kRounds; ++i) {
                    stream.dispatch(program, {x}, kCount);
                    stream.submit();
                    stream.replay(again);
                }
                words = stream.download(x);
            });
        std::uint64_t before = 0;
        for (int i = 0; i < 100; ++i) {
            const std::uint64_t now = dispatches(profile.report(), "p");
            CHECK(now >= before);
            before = now;
        }
        for (std::thread& thread : threads) thread.join();
        CHECK(dispatches(profile.report(), "p") == kRounds * kStreams);
        CHECK(dispatches(profile.report(), "(sequence)") == kRounds * kStreams);
        check_timed(profile.report());
        for (const Words& words : got) CHECK(words == after_rounds(2 * kRounds));
    });
}

TEST_CASE("profile: a long list holds more ranges than one pool of queries") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kInPlace, {.name = "p"});
        constexpr std::uint32_t kRounds = 600;
        Buffer<std::uint32_t> x(backend, kCount);
        Stream stream(backend, {.name = "long"});
        stream.fill(x.view(), 7);
        stream.wait();
        const Profile profile(backend);
        for (std::uint32_t i = 0; i < kRounds; ++i) stream.dispatch(program, {x}, kCount);
        stream.wait();
        const ProfileReport report = profile.report();
        check_timed(report);
        CHECK(dispatches(report, "p") == kRounds);
        CHECK(events_of(report, "long") == kRounds);
        CHECK(stream.download(x) == after_rounds(kRounds));
    });
}

TEST_CASE("trace: steps and replays of a stream carry its name") {
    const Folder folder;
    bool ran = false;
    on_device([&](weft::Backend& backend) {
        const Program program(backend, kInPlace, {.name = "p"});
        Buffer<std::uint32_t> x(backend, kCount);
        Stream stream(backend, {.name = "a \"quoted\" stream"});
        const Profile profile(backend);
        stream.fill(x.view(), 7);
        stream.dispatch(program, {x}, kCount);
        const Sequence once = stream.record([&](Stream& s) { s.dispatch(program, {x}, kCount); });
        stream.replay(once);
        CHECK(stream.download(x) == after_rounds(2));
        profile.write_trace(folder / "t.json");
        const ProfileReport report = profile.report();
        ran = report.stage(Stage::kernel).untimed == 0;
    });
    if (!ran) return;  // a trace has no events of work without times
    std::ifstream in(folder / "t.json");
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const std::string stream = R"("stream": "a \"quoted\" stream")";
    for (const std::string& part :
         {R"("program": "p", )" + stream, R"~("program": "(fill)", )~" + stream,
          R"~("program": "(sequence)", )~" + stream, R"("args": {"dispatches": 1, )" + stream}) {
        CAPTURE(part);
        CHECK(text.find(part) != std::string::npos);
    }
}
