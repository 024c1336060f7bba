// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "report/report_findings.hpp"

using namespace weft::tool;

namespace {

PathResult path(ReportPath which, double median, double speedup, double ceiling_s = 0) {
    PathResult result;
    result.path = which;
    result.timing.seconds = statistics({median});
    result.speedup = speedup;
    result.ceiling_s = ceiling_s;
    return result;
}

PathResult failed(ReportPath which, const char* why) {
    PathResult result;
    result.path = which;
    result.failure = why;
    return result;
}

/// Speed-ups 0.5, 2, 0.9, 3 from ordinary memory at sizes 1, 10, 100, 1000; resident always ahead.
KernelResult example() {
    KernelResult result;
    result.kernel = "lattice";
    result.unit = "vectors";
    result.processes.resize(1);
    result.processes[0].name = "encode";
    result.processes[0].rate_unit = "vectors";
    const double speedups[] = {0.5, 2, 0.9, 3};
    std::uint64_t batch = 1;
    for (const double speedup : speedups) {
        SizeResult size;
        size.batch = batch;
        size.items = static_cast<double>(batch);
        size.paths = {path(ReportPath::cpu, 1, 1), path(ReportPath::ordinary, 1 / speedup, speedup, 0.1),
                      path(ReportPath::resident, 0.25, 4)};
        result.sizes.push_back(size);
        batch *= 10;
    }
    return result;
}

bool any_has(const std::vector<std::string>& lines, const std::string& text) {
    for (const std::string& line : lines)
        if (line.find(text) != std::string::npos) return true;
    return false;
}

}  // namespace

TEST_CASE("the device wins from the size after the last one that it loses") {
    const KernelResult result = example();
    CHECK(wins_from(result, 0, ReportPath::ordinary) == 1000u);
    CHECK(wins_from(result, 0, ReportPath::resident) == 1u);
    CHECK_FALSE(wins_from(result, 0, ReportPath::page_locked));
    KernelResult loses = example();
    loses.sizes.back().paths[1].speedup = 1;  // not faster
    CHECK_FALSE(wins_from(loses, 0, ReportPath::ordinary));
}

TEST_CASE("best by speed-up, rate and share of the ceiling") {
    const KernelResult result = example();
    CHECK(best_of(result, 0, ReportPath::ordinary, BestBy::speedup).size->batch == 1000);
    CHECK(best_of(result, 0, ReportPath::ordinary, BestBy::rate).size->batch == 1000);
    CHECK(best_of(result, 0, ReportPath::ordinary, BestBy::ceiling).path->of_ceiling() ==
          doctest::Approx(0.3));
    CHECK(best_of(result, 0, ReportPath::page_locked, BestBy::speedup).size == nullptr);
    CHECK(best_of(result, 1, ReportPath::ordinary, BestBy::speedup).size == nullptr);
}

TEST_CASE("sentences have the figures") {
    KernelResult result = example();
    result.splits.push_back({0, 1000, 3, 1.0, 0.8, 0.5, 0.05, {{"kernel", 0.3}, {"upload", 0.9}}});
    const std::vector<std::string> lines = findings(result);
    CHECK(any_has(
        lines,
        "from ordinary memory the device beats the CPU from 1,000 vectors on, by up to 3x (at 1,000)"));
    CHECK(any_has(lines, "on resident data the device beats the CPU at every size, by up to 4x (at 1)"));
    CHECK(any_has(lines, "30 % of what copies allow (at 1,000)"));
    CHECK(any_has(lines, "highest rate 4.00 K vectors/s, on resident data at 1,000"));
    CHECK(any_has(
        lines,
        "at 1,000 vectors from ordinary memory, of the time of profiled calls (1.00 s) stages were busy, "
        "some simultaneously: upload 90 %, kernel 30 %, no stage 5.0 %."));
    result.splits[0].idle.reset();  // a queue without timestamps
    CHECK(any_has(findings(result), "some simultaneously: upload 90 %, kernel 30 %."));
}

TEST_CASE("a baseline that falls with size or scatters is reported") {
    KernelResult result = example();
    CHECK_FALSE(any_has(findings(result), "baseline"));
    result.sizes[2].paths[0].timing.seconds = statistics({20.0, 20.0, 21.0});  // 100 vectors: 5/s after 10/s
    CHECK(
        any_has(findings(result),
                "lattice encode: the CPU baseline falls with size (5.00 vectors/s at 100 after 10.0 at 10); "
                "take the speed-ups there with care."));
    result.sizes[1].paths[0].timing.seconds = statistics({1.0, 1.0, 1.6});
    CHECK(any_has(findings(result), " and scatters (std over median 35 % at 10); take"));
    result.sizes[2].paths[0].timing.seconds = statistics({1.0});
    CHECK(
        any_has(findings(result), "lattice encode: the CPU baseline scatters (std over median 35 % at 10);"));
}

TEST_CASE("a device that is ahead between sizes where it is not is neither ahead nor behind") {
    KernelResult result = example();
    result.sizes.pop_back();
    CHECK(any_has(findings(result),
                  "from ordinary memory the device is ahead of the CPU at some sizes only, by up to 2x "
                  "(at 10)"));
    result.sizes.erase(result.sizes.begin() + 1);
    CHECK(any_has(findings(result), "the CPU stays ahead; the device comes to at most 0.9x of it (at 100)"));
}

TEST_CASE("failures are reported once for each size, or path by path if they differ") {
    KernelResult result = example();
    result.sizes[2].paths[1] = failed(ReportPath::ordinary, "out of memory");
    for (PathResult& p : result.sizes[3].paths) p = failed(p.path, "does not fit");
    const std::vector<std::string> lines = findings(result);
    CHECK(any_has(lines, "lattice encode: 100 vectors, ordinary, did not run: out of memory."));
    CHECK(any_has(lines, "lattice encode: 1,000 vectors did not run: does not fit."));
    CHECK_FALSE(any_has(lines, "1,000 vectors, "));
    CHECK(result.sizes[3].common_failure() == "does not fit");
    CHECK(result.sizes[2].common_failure().empty());
    CHECK(result.any_ran());
    CHECK(wins_from(result, 0, ReportPath::ordinary) == 10u);  // a path that did not run does not count
}

TEST_CASE("a CPU's time that is extrapolated is marked wherever a sentence rests on it") {
    KernelResult result = example();
    PathResult& cpu = result.sizes[3].paths[0];
    cpu.timing.seconds = statistics({1e-6});  // no rate of it is the highest, nor a baseline that falls
    cpu.extrapolated_from = {10, 100};
    for (PathResult& path : result.sizes[3].paths) path.over_extrapolated = path.path != ReportPath::cpu;
    result.sizes[3].paths[1].verified_items = 64;
    const std::vector<std::string> lines = findings(result);
    CHECK(any_has(lines, "from 1,000 vectors on, by up to ~3x (at 1,000)"));
    CHECK(any_has(lines,
                  "lattice encode: the CPU's time is extrapolated, and so are speed-ups (~), at 1,000 from "
                  "what 10 and 100 took; results there were compared on 64 sampled vectors."));
    CHECK(any_has(lines, "highest rate 4.00 K vectors/s, on resident data"));
    CHECK(best_of(result, 0, ReportPath::ordinary, BestBy::measured_speedup).size->batch == 10);
    CHECK(best_of(result, 0, ReportPath::cpu, BestBy::rate).size->batch == 100);
    CHECK(speedup_text(result.sizes[3].paths[1]) == "~3x");
    CHECK(speedup_text(result.sizes[2].paths[2]) == "4x");
}
