// SPDX-License-Identifier: Apache-2.0
// Profiles of real work: counts are exact, and times come from the device.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/weft.hpp>

#include "support/gpu_fixture.hpp"
#include "support/scratch_folder.hpp"
#include "support/shader_jobs.hpp"

using namespace weft_test;
namespace fs = std::filesystem;
using weft::BatchMode;
using weft::Errc;
using weft::Path;
using weft::Profile;
using weft::ProfileReport;
using weft::Program;
using weft::QueueMode;
using weft::Stage;
using weft::WorkTimes;

namespace {

/// Checks that hold for every report.
void check_sane(const ProfileReport& report) {
    CHECK(report.dropped_events == 0);
    CHECK(report.wall_s > 0);
    CHECK(report.device_s <= report.wall_s * 1.05);
    for (const double share : {report.overlap, report.copy_hidden, report.host_copy_hidden,
                               report.queue_balance, report.stream_balance, report.memory.hit_rate()}) {
        CHECK(share >= 0);
        CHECK(share <= 1);
    }
    for (const auto& stage : report.stages) {
        const WorkTimes& t = stage.times;
        CAPTURE(weft::to_string(stage.stage));
        CHECK(t.busy_s <= t.total_s * (1 + 1e-9));
        CHECK(t.min_s <= t.median_s);
        CHECK(t.median_s <= t.max_s);
        CHECK(t.min_s <= t.mean_s * (1 + 1e-9));
        CHECK(t.mean_s <= t.max_s * (1 + 1e-9));
        CHECK(t.total_s >= 0);
    }
    for (const auto& queue : report.queues) CHECK(queue.utilisation <= 1);
    CHECK(report.memory.peak_bytes >= report.memory.live_bytes);
}

std::uint64_t bytes_of(const AffineWork& work) {
    std::uint64_t bytes = 0;
    for (const weft::Job& job : work.jobs) bytes += job.inputs[0].bytes;
    return bytes;
}

bool device_times(const weft::Backend& backend) {
    for (const std::string& reason : backend.plan().reasons)
        if (reason.find("timestamps: yes") == 0) return true;
    return false;
}

class Folder : public ScratchFolder {
  public:
    fs::path operator/(const char* name) const { return path() / name; }
    std::size_t files() const {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator(path()), {}));
    }
};

std::string contents(const fs::path& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("profile: every byte and every dispatch of a batch, each path, mode and split") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kAffine, {.name = "affine"});
        AffineWork work({100000, 5, 70000, 300000});
        const std::uint64_t bytes = bytes_of(work);
        for (const Path path : {Path::staged, Path::direct, Path::host})
            for (const BatchMode mode : {BatchMode::sequential, BatchMode::pipelined})
                for (const QueueMode queues : {QueueMode::single, QueueMode::split}) {
                    CAPTURE(weft::to_string(path));
                    CAPTURE(weft::to_string(queues));
                    Profile profile(backend);
                    const weft::BatchReport batch = weft::run_batch(
                        backend, program, work.jobs,
                        {.mode = mode, .path = path, .queues = queues, .chunk_elements = 40000});
                    const ProfileReport report = profile.report();
                    check_sane(report);
                    CHECK(work.right());
                    CHECK(report.stage(Stage::kernel).count == batch.chunks);
                    CHECK(report.stage(Stage::kernel).bytes == 2 * bytes);
                    CHECK(report.stage(Stage::copy_in).bytes == bytes);
                    CHECK(report.stage(Stage::copy_out).bytes == bytes);
                    const std::uint64_t moved = path == Path::staged ? bytes : 0;
                    CHECK(report.stage(Stage::upload).bytes == moved);
                    CHECK(report.stage(Stage::download).bytes == moved);
                    REQUIRE(report.kernels.size() == 1);
                    CHECK(report.kernels[0].program == "affine");
                    CHECK(report.kernels[0].times.count == batch.chunks);
                    CHECK(report.ring.acquires == batch.bundles);
                    CHECK(report.ring.waits <= report.ring.acquires);
                    if (!device_times(backend)) continue;
                    CHECK(report.kernels[0].times.untimed == 0);
                    CHECK(report.kernels[0].times.busy_s > 0);
                    CHECK(report.device_s > 0);
                }
    });
}

TEST_CASE("profile: the device's times lie inside the window on the host's clock") {
    on_device([](weft::Backend& backend) {
        if (!device_times(backend)) return;
        const Program program(backend, kSlow, {.name = "slow"});
        std::vector<std::uint32_t> in = words(1024), out(in.size());
        Profile profile(backend);
        for (int i = 0; i < 3; ++i) {
            const weft::Job job{{in}, {out}, in.size(), std::uint32_t{3000}};
            weft::run_batch(backend, program, {&job, 1});
        }
        const ProfileReport report = profile.report();
        check_sane(report);
        // If the clocks differed, the queue's busy time within the window would be only a part of the
        // kernel's time.
        double queues = 0;
        for (const auto& queue : report.queues) queues += queue.busy_s;
        CHECK(queues == doctest::Approx(report.device_s).epsilon(0.01));
        CHECK(report.stage(Stage::kernel).busy_s == doctest::Approx(queues).epsilon(0.5));
        CHECK(report.clock.find("within") != std::string::npos);
    });
}

TEST_CASE("profile: a ring that is too small shows as waits") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kSlow);
        std::vector<std::uint32_t> in = words(1024), out(in.size());
        const weft::Job job{{in}, {out}, in.size(), std::uint32_t{2000}};
        Profile profile(backend);
        const weft::BatchReport batch =
            weft::run_batch(backend, program, {&job, 1}, {.chunk_elements = 128, .ring_slots = 1});
        const ProfileReport report = profile.report();
        CHECK(batch.bundles >= 2);
        CHECK(report.ring.acquires == batch.bundles);
        CHECK(report.ring.waits >= 1);
        CHECK(report.ring.waits <= batch.bundles - 1);  // the last wait is for the end, not for a slot
        CHECK(report.ring.wait_s > 0);
        Profile roomy(backend);
        weft::run_batch(backend, program, {&job, 1}, {.chunk_elements = 128, .ring_slots = 8});
        CHECK(roomy.report().ring.waits == 0);
    });
}

TEST_CASE("profile: live memory falls when buffers are freed, the peak is that of the window") {
    on_device([](weft::Backend& backend) {
        constexpr std::size_t kBytes = 1u << 20;
        { weft::Buffer<std::byte> before(backend, 16 * kBytes); }
        weft::Buffer<std::byte> kept(backend, kBytes);
        Profile profile(backend);
        const std::uint64_t start = profile.report().memory.start_bytes;
        CHECK(start >= kBytes);
        CHECK(profile.report().memory.peak_bytes == start);  // the 16 MiB were freed before the profile began
        {
            weft::Buffer<std::byte> a(backend, 2 * kBytes), b(backend, 3 * kBytes);
            CHECK(profile.report().memory.live_bytes == start + 5 * kBytes);
        }
        weft::Buffer<std::byte> c(backend, kBytes);
        const ProfileReport report = profile.report();
        CHECK(report.memory.live_bytes == start + kBytes);
        CHECK(report.memory.peak_bytes == start + 5 * kBytes);
        CHECK(report.memory.allocations == 3);
        CHECK(report.memory.hits >= 2);  // from the block of the freed 16 MiB, except perhaps for the largest
    });
}

TEST_CASE("profile: several simultaneously, each with its own window; moved, and after its backend") {
    std::optional<weft::Backend> backend = make_backend();
    if (!backend) return;
    std::optional<Profile> outer;
    {
        const Program program(*backend, kAffine);
        AffineWork work({1000});
        outer.emplace(*backend);
        weft::run_batch(*backend, program, work.jobs);
        Profile inner(*backend);
        weft::run_batch(*backend, program, work.jobs);
        CHECK(inner.report().stage(Stage::kernel).count == 1);
        CHECK(outer->report().stage(Stage::kernel).count == 2);
        Profile moved(std::move(inner));
        CHECK(moved.report().stage(Stage::kernel).count == 1);
        check_error(Errc::invalid_argument, "Profile: used after it was moved from", [&] { inner.report(); });
    }
    check_error(Errc::invalid_argument, "max_events is out of range (got 0",
                [&] { Profile(*backend, {.max_events = 0}); });
    check_clean(*backend);
    backend.reset();
    CHECK(outer->report().stage(Stage::kernel).count == 2);
}

TEST_CASE("profile: of work from many threads, and of a pipeline that was running before") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kAffine);
        AffineWork warm({4000, 4000}), piped({4000, 5000, 6000});
        weft::JobPipeline pipeline(backend, program);
        pipeline.wait(pipeline.submit(warm.jobs[0]));
        Profile profile(backend);
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&] {
                AffineWork work({200000, 3000});
                weft::run_batch(backend, program, work.jobs);
            });
        for (const weft::Job& job : piped.jobs) pipeline.submit(job);
        pipeline.wait_all();
        for (std::thread& thread : threads) thread.join();
        const ProfileReport report = profile.report();
        check_sane(report);
        CHECK(report.stage(Stage::kernel).bytes == 2 * (4 * 4 * 203000 + bytes_of(piped)));
        CHECK(piped.right());
    });
}

TEST_CASE("profile: the number of events is bounded, and dropped events are counted") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kAffine);
        AffineWork work(std::vector<std::size_t>(20, 1000));
        Profile profile(backend, {.max_events = 5});
        for (const weft::Job& job : work.jobs) weft::run_batch(backend, program, {&job, 1});
        const ProfileReport report = profile.report();
        CHECK(report.dropped_events > 20);
        CHECK(report.to_table().find("INCOMPLETE") != std::string::npos);
        CHECK(report.ring.acquires == 20);
    });
}

TEST_CASE("profile: after its end, a steady state is the same as before") {
    on_device([](weft::Backend& backend) {
        const Program program(backend, kAffine);
        AffineWork work({100000});
        const auto call = [&] { weft::run_batch(backend, program, work.jobs); };
        call();
        call();
        const weft::Counters before = backend.counters();
        call();
        const weft::Counters plain = backend.counters();
        {
            Profile profile(backend);
            call();
        }
        const weft::Counters profiled = backend.counters();
        call();
        const weft::Counters after = backend.counters();
        CHECK(plain.recordings == before.recordings);
        CHECK(after.recordings == profiled.recordings);
        CHECK(after.objects_created == profiled.objects_created);
        CHECK(after.submissions - profiled.submissions == plain.submissions - before.submissions);
    });
}

TEST_CASE("trace: written when the backend is destroyed, one file for each, with the names of the job") {
    const Folder folder;
    weft::Config config = weft::Config::from_env();
    config.trace = folder / "t.json";
    for (int i = 0; i < 2; ++i) {
        on_device(
            [](weft::Backend& backend) {
                const Program program(backend, kAffine, {.name = "affine \"quoted\""});
                AffineWork work({1000});
                work.jobs[0].name = "job\nname";
                weft::run_batch(backend, program, work.jobs);
            },
            config);
    }
    if (folder.files() == 0) return;  // no device, none required
    CHECK(folder.files() == 2);
    for (const char* name : {"t.json", "t.2.json"}) {
        const std::string text = contents(folder / name);
        CHECK(text.find(R"("job": "job\nname")") != std::string::npos);
        CHECK(text.find(R"("program": "affine \"quoted\"")") != std::string::npos);
    }
}

TEST_CASE("trace: a path that cannot be written is an error in the log and nothing else") {
    const Folder folder;
    weft::Config config = weft::Config::from_env();
    config.trace = folder / "absent" / "t.json";
    std::vector<std::string> errors;
    std::mutex mutex;
    config.log = [&](weft::LogLevel level, std::string_view line) {
        const std::lock_guard lock(mutex);
        if (level == weft::LogLevel::error) errors.emplace_back(line);
    };
    bool ran = false;
    on_device(
        [&](weft::Backend& backend) {
            check_usable(backend);
            check_error(Errc::io, "Profile::write_trace: cannot create",
                        [&] { Profile(backend).write_trace(folder / "absent" / "p.json"); });
            check_error(Errc::invalid_argument, "Profile::write_trace: no file (got an empty path",
                        [&] { Profile(backend).write_trace(""); });
            Profile(backend).write_trace(folder / "p.json");
            ran = true;
        },
        config);
    if (!ran) return;
    REQUIRE(errors.size() == 2);
    CHECK(errors[0].find("trace: no such folder") != std::string::npos);
    CHECK(errors[1].find("trace: cannot create") != std::string::npos);
    CHECK(folder.files() == 1);
}
