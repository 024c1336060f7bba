// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <weft/batch.hpp>

namespace {

using doctest::Approx;
using weft::BatchReport;
using weft::Stage;
using weft::StageInterval;

BatchReport report_of(std::vector<StageInterval> intervals) {
    BatchReport report;
    report.intervals = std::move(intervals);
    return report;
}

StageInterval interval(Stage stage, double begin, double end) {
    return {stage, 0, 0, begin, end};
}

TEST_CASE("throughput counts the bytes of both directions in decimal gigabytes") {
    BatchReport report;
    CHECK(report.gb_per_s() == 0);  // without a time there is no division by it
    report.bytes_in = 3'000'000'000;
    report.bytes_out = 1'000'000'000;
    CHECK(report.gb_per_s() == 0);
    report.wall_s = 0.5;
    CHECK(report.gb_per_s() == Approx(8));
    report.bytes_in = 0;
    CHECK(report.gb_per_s() == Approx(2));
}

TEST_CASE("without intervals nothing ran and nothing overlapped") {
    const BatchReport report;
    CHECK(report.device_s() == 0);
    CHECK(report.overlap() == 0);
    CHECK(report.stage_s(Stage::upload) == 0);
}

TEST_CASE("stages one after the other do not overlap") {
    const BatchReport report = report_of(
        {interval(Stage::upload, 0, 2), interval(Stage::kernel, 2, 3), interval(Stage::download, 5, 9)});
    CHECK(report.stage_s(Stage::upload) == Approx(2));
    CHECK(report.stage_s(Stage::kernel) == Approx(1));
    CHECK(report.stage_s(Stage::download) == Approx(4));
    CHECK(report.device_s() == Approx(7));
    CHECK(report.overlap() == 0);
}

TEST_CASE("stages that run simultaneously all the time overlap completely") {
    CHECK(report_of({interval(Stage::upload, 1, 4), interval(Stage::download, 1, 4)}).overlap() == Approx(1));
    // Three overlapping stages count at most the whole time.
    CHECK(report_of(
              {interval(Stage::upload, 1, 4), interval(Stage::kernel, 1, 4), interval(Stage::download, 1, 4)})
              .overlap() == Approx(1));
}

TEST_CASE("two slots in the same stage do not count as an overlap of stages") {
    const BatchReport report = report_of({interval(Stage::kernel, 0, 4), interval(Stage::kernel, 2, 6)});
    CHECK(report.stage_s(Stage::kernel) == Approx(6));
    CHECK(report.device_s() == Approx(6));
    CHECK(report.overlap() == 0);
}

TEST_CASE("overlap is an intersection of intervals, not a ratio of durations") {
    // Two copies of 10 ms back to back, each followed by 8 ms of kernel: only the second copy overlaps a
    // kernel. The ratio of durations would be 80 %.
    const BatchReport report =
        report_of({interval(Stage::upload, 0, 0.010), interval(Stage::upload, 0.010, 0.020),
                   interval(Stage::kernel, 0.010, 0.018), interval(Stage::kernel, 0.020, 0.028)});
    CHECK(report.stage_s(Stage::upload) == Approx(0.020));
    CHECK(report.stage_s(Stage::kernel) == Approx(0.016));
    CHECK(report.device_s() == Approx(0.028));
    CHECK(report.overlap() == Approx(8.0 / 28));
    CHECK(report.overlap() * report.device_s() / report.stage_s(Stage::upload) == Approx(0.4));
}

}  // namespace
