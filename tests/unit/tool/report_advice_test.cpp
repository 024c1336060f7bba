// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "report/report_advice.hpp"

using namespace weft::tool;

namespace {

PathResult path(ReportPath which, double median) {
    PathResult result;
    result.path = which;
    result.timing.seconds = statistics({median});
    result.verified = true;
    return result;
}

/// At 10 and 1,000: the CPU's, ordinary, page-locked and resident seconds.
KernelResult example(std::vector<double> small, std::vector<double> large) {
    KernelResult result;
    result.kernel = "encode";
    result.unit = "samples";
    result.processes.resize(1);
    result.processes[0].name = "angle";
    for (const auto& [batch, times] : {std::pair{10, small}, std::pair{1000, large}}) {
        SizeResult size;
        size.batch = static_cast<std::uint64_t>(batch);
        size.items = batch;
        for (std::size_t i = 0; i < times.size(); ++i)
            size.paths.push_back(path(static_cast<ReportPath>(i), times[i]));
        size.compare();
        result.sizes.push_back(size);
    }
    return result;
}

bool any_has(const std::vector<std::string>& lines, const std::string& text) {
    for (const std::string& line : lines)
        if (line.find(text) != std::string::npos) return true;
    return false;
}

}  // namespace

TEST_CASE("nothing to gain is no advice") {
    CHECK(advice(example({1, 0.5, 0.5, 0.4}, {1, 0.5, 0.5, 0.4})).empty());
    CHECK(advice(Report{}).empty());
}

TEST_CASE("memory that is faster by a fifth") {
    const auto lines = advice(example({1, 0.5, 0.5, 0.4}, {1, 0.6, 0.4, 0.4}));
    REQUIRE(lines.size() == 1);
    CHECK(lines[0] ==
          "encode angle: page-locked memory is 1.5x as fast as ordinary memory here (at 1,000); keep inputs "
          "and "
          "outputs in a HostBuffer.");
    CHECK(advice(example({1, 0.5, 0.5, 0.4}, {1, 0.44, 0.4, 0.4})).empty());
}

TEST_CASE("sizes that do not pay on the device") {
    CHECK(any_has(
        advice(example({1, 2, 2, 2}, {1, 0.5, 0.5, 0.5})),
        "encode angle: calls of fewer than 1,000 samples from ordinary memory do not pay on the device"));
    CHECK(
        any_has(advice(example({1, 2, 2, 1}, {1, 2, 2, 0.25})),
                "on resident arrays it is 4x as fast as the CPU (at 1,000); keep the arrays on the device"));
    CHECK(advice(example({1, 2, 2, 2}, {1, 2, 2, 2})).empty());  // nothing would help
}

TEST_CASE("copies of the host that take most of a call") {
    KernelResult result = example({1, 0.5, 0.5, 0.4}, {1, 0.5, 0.5, 0.4});
    result.splits.push_back(
        {0, 1000, 3, 1.0, 1.0, 0.5, 0.05, {{"kernel", 0.3}, {"copy-in", 0.7}, {"copy-out", 0.2}}});
    CHECK(any_has(advice(result),
                  "the host's copies between ordinary and page-locked memory take 70 % of a call "
                  "(at 1,000)"));
    result.splits[0].stages[0].busy_s = 0.8;  // the kernel takes longer
    CHECK(advice(result).empty());
    result.splits[0].stages = {{"copy-in", 0.5}};
    CHECK(advice(result).empty());
}

TEST_CASE("CUDA that is faster, and sizes that were left out for time") {
    KernelResult result = example({1, 0.5, 0.5, 0.4}, {1, 0.5, 0.5, 0.4});
    result.sizes[1].paths.push_back(path(ReportPath::cuda, 0.25));
    CHECK(any_has(advice(result), "CUDA is 2x as fast as Vulkan here (at 1,000); --backend cuda takes it."));
    result.sizes[1].paths[4].failure =
        "left out: one run would take about 9 s (--total-seconds 90 leaves 1 s)";
    CHECK(any_has(advice(result),
                  "encode angle: sizes were left out for time; raise --total-seconds to measure"));
    result.sizes[1].paths[4].failure =
        "left out: one run would take about 90 s (--max-seconds 5 allows 20 s)";
    CHECK(any_has(advice(result), "raise --max-seconds to measure"));
}

TEST_CASE("the machine itself: a software device, and what weft tune has not done") {
    Report report;
    report.machine.device = "llvmpipe";
    report.machine.type = "cpu";
    report.machine.tuning = "absent";
    auto lines = advice(report);
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].starts_with("llvmpipe is a software device"));
    CHECK(lines[1].starts_with("weft tune has not been run for this device"));
    report.machine.type = "discrete";
    for (const char* state : {"used", "off", ""}) {
        report.machine.tuning = state;
        CHECK(advice(report).empty());
    }
    report.machine.tuning = "of another driver";
    CHECK(any_has(advice(report), "is not used (of another driver); run weft tune again."));
    report.machine.tuning.clear();
    report.kernels.push_back(example({1, 0.5, 0.5, 0.4}, {1, 0.6, 0.4, 0.4}));
    CHECK(advice(report).size() == 1);
}
