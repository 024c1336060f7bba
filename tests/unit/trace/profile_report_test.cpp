// SPDX-License-Identifier: Apache-2.0
// The figures of hand-made profiles. Each case that is named after a flaw has numbers for which a profiler
// with this flaw gives another result.
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "trace/profile_report.hpp"

namespace {

using doctest::Approx;
using weft::ProfileReport;
using weft::Stage;
using weft::WorkTimes;
using weft::core::StageEvent;
using weft::core::summarise;
using weft::core::TraceData;
using weft::core::TraceTrack;

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kStart = 5'000'000'000;

/// A window of 100 ms with three queues and two copy threads; times are milliseconds from its begin.
class Made {
  public:
    Made() {
        data.begin_ns = kStart;
        data.end_ns = kStart + 100 * kMs;
        data.rows = {{TraceTrack::host, true, "host"},       {TraceTrack::queue, true, "upload"},
                     {TraceTrack::queue, true, "compute"},   {TraceTrack::queue, true, "download"},
                     {TraceTrack::copier, true, "worker 1"}, {TraceTrack::copier, true, "worker 2"}};
        data.names = {"", "(more names)", "saxpy", "sum", "left", "right"};
    }
    Made& add(Stage stage, double begin_ms, double end_ms, std::uint64_t bytes = 0,
              std::uint32_t operations = 1, weft::core::NameId program = 0) {
        StageEvent event;
        event.stage = stage;
        event.row = stage == Stage::upload     ? 1
                    : stage == Stage::kernel   ? 2
                    : stage == Stage::download ? 3
                                               : 4;
        event.begin_ns = kStart + static_cast<std::int64_t>(begin_ms * kMs);
        event.end_ns = kStart + static_cast<std::int64_t>(end_ms * kMs);
        event.bytes = bytes;
        event.operations = operations;
        event.program = program;
        data.stages.push_back(event);
        return *this;
    }
    ProfileReport report() const { return summarise(data); }
    TraceData data;
};

constexpr Stage kUpload = Stage::upload, kKernel = Stage::kernel, kDownload = Stage::download,
                kCopyIn = Stage::copy_in, kCopyOut = Stage::copy_out;

TEST_CASE("without events all figures are zero, and there is no division by zero") {
    const ProfileReport report = Made().report();
    CHECK(report.wall_s == Approx(0.1));
    CHECK(report.stages.size() == 5);
    for (const auto& stage : report.stages) {
        CHECK(stage.times.count == 0);
        CHECK(stage.times.gb_per_s() == 0);
        CHECK(stage.times.mean_s == 0);
    }
    CHECK(report.overlap == 0);
    CHECK(report.copy_hidden == 0);
    CHECK(report.host_copy_hidden == 0);
    CHECK(report.queue_balance == 0);
    CHECK(report.ring.starvation() == 0);
    CHECK(report.memory.hit_rate() == 0);
}

TEST_CASE(
    "flaw: overlap as the ratio of durations (T20). The intersection is 40 %, the ratio would be 80 %") {
    const ProfileReport report =
        Made().add(kUpload, 0, 10).add(kUpload, 10, 20).add(kKernel, 10, 18).add(kKernel, 20, 28).report();
    CHECK(report.copy_hidden == Approx(0.4));
    CHECK(report.device_s == Approx(0.028));
    CHECK(report.overlap == Approx(8.0 / 28));
}

TEST_CASE("flaw: shares of stages that hide the time in which no stage ran") {
    // 100 ms: 10 to 30 copied in, 20 to 50 computed, -10 to 5 and 95 to 120 copied up, half of each outside.
    const ProfileReport report =
        Made().add(kCopyIn, 10, 30).add(kKernel, 20, 50).add(kUpload, -10, 5).add(kUpload, 95, 120).report();
    CHECK(report.busy_s == Approx(0.050));
    CHECK(report.idle() == Approx(0.5));
    CHECK(report.device_s == Approx(0.070));
    CHECK(Made().report().idle() == 1);
    CHECK(ProfileReport{}.idle() == 0);
    CHECK(report.to_table().find("no stage busy, on device or host, in 50.0% of the 100.000 ms") !=
          std::string::npos);
    CHECK(report.to_json().find("\"busy_s\": 0.05") != std::string::npos);
}

TEST_CASE("flaw: a copy and its own kernel never overlap, but the ratio of 1.230 and 2.450 ms is 50 %") {
    const ProfileReport report = Made().add(kUpload, 0, 1.230).add(kKernel, 1.230, 3.680).report();
    CHECK(report.copy_hidden == 0);
    CHECK(report.overlap == 0);
}

TEST_CASE("flaw: bandwidth as the mean of rates. 1 GB at 10 and 9 GB at 1 GB/s are 1.099, not 5.5 GB/s") {
    Made made;
    made.data.end_ns = kStart + 10'000 * kMs;
    const ProfileReport report =
        made.add(kUpload, 0, 100, 1'000'000'000).add(kUpload, 100, 9100, 9'000'000'000).report();
    const WorkTimes& upload = report.stage(kUpload);
    CHECK(upload.gb_per_s() == Approx(10 / 9.1));
    CHECK(upload.bytes == 10'000'000'000);
    CHECK(upload.mean_s == Approx(4.55));
}

TEST_CASE("flaw: one mean over both directions and all sizes") {
    const ProfileReport report = Made()
                                     .add(kUpload, 0, 1, 1'000'000)
                                     .add(kUpload, 1, 4, 9'000'000)
                                     .add(kDownload, 10, 20, 5'000'000)
                                     .report();
    CHECK(report.stage(kUpload).gb_per_s() == Approx(2.5));
    CHECK(report.stage(kDownload).gb_per_s() == Approx(0.5));
    CHECK(report.stage(kUpload).min_s == Approx(0.001));
    CHECK(report.stage(kUpload).mean_s == Approx(0.002));
    CHECK(report.stage(kUpload).max_s == Approx(0.003));
}

TEST_CASE("flaw: simultaneous copies counted twice. Bandwidth is over the time in which any ran") {
    const ProfileReport report =
        Made().add(kUpload, 0, 10, 10'000'000).add(kUpload, 0, 10, 10'000'000).report();
    CHECK(report.stage(kUpload).busy_s == Approx(0.010));
    CHECK(report.stage(kUpload).total_s == Approx(0.020));
    CHECK(report.stage(kUpload).gb_per_s() == Approx(2));
}

TEST_CASE("flaw: upload time that is the time of preparing the data. Host copies are stages of their own") {
    const ProfileReport report =
        Made().add(kCopyIn, 0, 50, 8'000'000).add(kUpload, 50, 51, 8'000'000).report();
    CHECK(report.stage(kUpload).busy_s == Approx(0.001));
    CHECK(report.stage(kUpload).gb_per_s() == Approx(8));
    CHECK(report.stage(kCopyIn).busy_s == Approx(0.050));
    CHECK(report.stage(kCopyIn).gb_per_s() == Approx(0.16));
    CHECK(report.copy_hidden == 0);
    CHECK(report.device_s == Approx(0.001));  // the host's time is not device time
}

TEST_CASE("flaw: kernel time from the host's clock around the launch. Without timestamps there is none") {
    Made made;
    made.add(kKernel, 3, 4, 1000, 2, 2).add(kKernel, 0, 0, 500, 3, 2);
    made.data.stages.back().timed = false;
    const ProfileReport report = made.report();
    const WorkTimes& kernel = report.stage(kKernel);
    CHECK(kernel.count == 5);
    CHECK(kernel.untimed == 3);
    CHECK(kernel.bytes == 1500);
    CHECK(kernel.timed_bytes == 1000);
    CHECK(kernel.busy_s == Approx(0.001));
    CHECK(kernel.gb_per_s() == Approx(0.001));  // untimed bytes do not make it look faster
    CHECK(kernel.mean_s == Approx(0.0005));
    CHECK(report.kernels.at(0).times.untimed == 3);
}

TEST_CASE("flaw: a peak that is the sum of all allocations. It is what was in use simultaneously") {
    Made made;
    made.data.start_bytes = 100;
    made.data.live_bytes = 150;
    made.data.peak_bytes = 400;
    made.data.allocations = 8;
    made.data.pool_hits = 6;
    const ProfileReport report = made.report();
    CHECK(report.memory.start_bytes == 100);
    CHECK(report.memory.live_bytes == 150);
    CHECK(report.memory.peak_bytes == 400);
    CHECK(report.memory.hit_rate() == Approx(0.75));
}

TEST_CASE("flaw: only every tenth chunk measured. All of a thousand count, and the slow ones show") {
    Made made;
    made.data.end_ns = kStart + 10'000 * kMs;
    // Each takes 1 ms, but those whose number is not a multiple of ten take 2 ms.
    for (int i = 0; i < 1000; ++i) made.add(kKernel, i * 3, i * 3 + (i % 10 == 0 ? 1 : 2), 0, 1, 2);
    const WorkTimes kernel = made.report().stage(kKernel);
    CHECK(kernel.count == 1000);
    CHECK(kernel.mean_s == Approx(0.0019));
    CHECK(kernel.median_s == Approx(0.002));
    CHECK(kernel.busy_s == Approx(1.9));
}

TEST_CASE("flaw: latency that is a mean. Percentiles are of the ranked times") {
    Made made;
    made.data.end_ns = kStart + 10'000 * kMs;
    for (int i = 0; i < 100; ++i) made.add(kKernel, i * 50, i * 50 + (i == 40 ? 41 : 1));
    const WorkTimes kernel = made.report().stage(kKernel);
    CHECK(kernel.mean_s == Approx(0.0014));
    CHECK(kernel.median_s == Approx(0.001));
    CHECK(kernel.p99_s == Approx(0.001));
    CHECK(kernel.max_s == Approx(0.041));
}

TEST_CASE("flaw: starvation that cannot show. Waits are counted against slots taken") {
    Made made;
    made.data.ring_acquires = 40;
    made.data.ring_waits = 10;
    made.data.ring_wait_ns = 25 * 1'000'000;
    const ProfileReport report = made.report();
    CHECK(report.ring.starvation() == Approx(0.25));
    CHECK(report.ring.wait_s == Approx(0.025));
}

TEST_CASE("dispatches that were submitted together count one by one and share their time") {
    const ProfileReport report =
        Made().add(kKernel, 0, 8, 0, 4, 2).add(kKernel, 8, 9, 0, 1, 2).add(kKernel, 10, 40, 0, 1, 3).report();
    REQUIRE(report.kernels.size() == 2);
    CHECK(report.kernels[0].program == "sum");
    CHECK(report.kernels[1].program == "saxpy");
    const WorkTimes& saxpy = report.kernels[1].times;
    CHECK(saxpy.count == 5);
    CHECK(saxpy.total_s == Approx(0.009));
    CHECK(saxpy.mean_s == Approx(0.0018));
    CHECK(saxpy.min_s == Approx(0.001));
    CHECK(saxpy.median_s == Approx(0.002));
    CHECK(saxpy.max_s == Approx(0.002));
    CHECK(report.stage(kKernel).count == 6);
}

TEST_CASE(
    "utilisation is the union over the window, at most one, with the inner parts of intervals at its edges") {
    Made made;
    made.add(kUpload, -10, 10).add(kUpload, 5, 30).add(kKernel, 90, 250);
    const ProfileReport report = made.report();
    CHECK(report.queues.at(0).utilisation == Approx(0.30));
    CHECK(report.queues.at(1).utilisation == Approx(0.10));
    CHECK(report.queues.at(2).utilisation == 0);
    CHECK(report.queues.at(0).events == 2);
    CHECK(report.stage(kKernel).max_s == Approx(0.160));  // the kernel itself was that long
}

TEST_CASE(
    "balance compares the queues and streams that were used; one busy stream differs from four that share "
    "work") {
    Made even;
    for (int i = 0; i < 2; ++i) {
        even.add(kKernel, i * 10, i * 10 + 10);
        even.data.stages.back().stream = static_cast<weft::core::NameId>(4 + i);
    }
    CHECK(even.report().stream_balance == Approx(1));
    CHECK(even.report().queue_balance == Approx(1));
    Made uneven;
    uneven.add(kKernel, 0, 30);
    uneven.data.stages.back().stream = 4;
    uneven.add(kKernel, 30, 40);
    uneven.data.stages.back().stream = 5;
    uneven.add(kUpload, 0, 10);
    uneven.data.stages.back().stream = 5;
    const ProfileReport report = uneven.report();
    CHECK(report.stream_balance == Approx(25.0 / 30));  // 30 and 20 ms
    CHECK(report.queue_balance == Approx(25.0 / 40));   // 40 and 10 ms
    CHECK(report.streams.size() == 2);
    CHECK(report.streams[0].name == "left");
    CHECK(report.streams[0].busy_s == Approx(0.030));
}

TEST_CASE("copies of the host during device work are distinguished from those that the device waits for") {
    const ProfileReport report =
        Made().add(kCopyIn, 0, 10).add(kKernel, 10, 20).add(kCopyIn, 10, 20).add(kCopyOut, 20, 40).report();
    CHECK(report.host_copy_hidden == Approx(0.25));
    CHECK(report.copy_tracks.size() == 1);  // the second thread never copied
    CHECK(report.copy_tracks[0].name == "worker 1");
    CHECK(report.copy_tracks[0].busy_s == Approx(0.040));
}

TEST_CASE("tables, JSON and CSV hold the figures and survive any name") {
    Made made;
    made.data.names[2] = "a\"b,\n\xff%s";
    made.data.dropped_events = 3;
    made.data.device = "card \"0\"";
    const ProfileReport report = made.add(kKernel, 0, 2, 4'000'000, 2, 2).report();
    const std::string table = report.to_table(), json = report.to_json(), csv = report.to_csv();
    CHECK(table.find("kernel") != std::string::npos);
    CHECK(table.find("INCOMPLETE: 3 events were dropped") != std::string::npos);
    CHECK(json.find("\"device\": \"card \\\"0\\\"\"") != std::string::npos);
    CHECK(json.find(R"("program": "a\"b,\n)") != std::string::npos);
    CHECK(json.find("\"gb_per_s\": 2,") == std::string::npos);
    CHECK(json.find("\"gb_per_s\": 2}") != std::string::npos);
    CHECK(csv.find("kernel,\"a\"\"b,\n") != std::string::npos);
    CHECK(csv.find("stage,kernel,2,0,4000000,0.002,") != std::string::npos);
}

}  // namespace
