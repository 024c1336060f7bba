// SPDX-License-Identifier: Apache-2.0
// Reports that are written and read again.
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>

#include "report/report_files.hpp"
#include "report/report_read.hpp"

using namespace weft::tool;

namespace {

PathResult timed(ReportPath which, std::vector<double> all, double ceiling_s) {
    PathResult path;
    path.path = which;
    path.timing = {statistics(std::move(all)), which == ReportPath::resident ? 16u : 1u};
    path.verified = true;
    path.ceiling_s = ceiling_s;
    return path;
}

Report written(const std::string& kernel) {
    Report report;
    report.title = "weft profile " + kernel;
    report.stamp = "20260131_235959";
    report.version = "0.1.0";
    report.machine = {"a \"GPU\"", "driver 1", "discrete",  "00ff",  "a CPU",
                      7,           "vulkan",   "CUDA 13.0", "absent"};
    report.repeats = {9, 2, 1.5};
    report.batch_sizes = {10, 300};
    KernelResult result;
    result.kernel = kernel;
    result.unit = "samples";
    result.configuration = {{"q", "4"}, {"map", "ryrz"}};
    result.processes.push_back({"encode", 57, 55.5, 101.25, 4300, "pairs"});
    result.processes.push_back({"decode", 57, 55, 100, 4300, "states"});
    for (const std::uint64_t batch : report.batch_sizes)
        for (const std::size_t process : {0u, 1u}) {
            SizeResult size;
            size.process = process;
            size.batch = batch;
            size.compression = process == 0 ? 5.25 : 0;
            size.bytes_in = 48 * batch;
            size.bytes_out = 3 * batch;
            size.items = static_cast<double>(batch * (batch + 1) / 2);
            size.paths = {timed(ReportPath::cpu, {3e-3, 1e-3, 2e-3}, 0),
                          timed(ReportPath::ordinary, {1e-4, 3e-4, 1e-4}, 5e-5),
                          timed(ReportPath::resident, {1e-5, 1.5e-5, 2e-5}, 4e-6),
                          timed(ReportPath::cuda, {2e-4, 2e-4, 2e-4}, 5e-5)};
            if (batch == 300) size.paths[2] = {ReportPath::resident, {}, false, "out, of memory", 0, 0, 0, 0};
            size.paths[0].threads = batch == 10 ? 1 : 7;
            size.compare();
            result.sizes.push_back(size);
        }
    result.splits.push_back({1, 300, 3, 2e-4, 1e-4, 0.25, 0.125, {{"upload", 1e-4}, {"copy-in", 5e-5}}});
    result.splits.push_back({0, 300, 3, 2e-4, 1e-4, 0, {}, {{"kernel", 1e-4}}});
    report.kernels.push_back(std::move(result));
    return report;
}

std::string json(const Report& report) {
    return json_text(report, report.kernels[0]);
}

/// The error of add_results for `text` with one part replaced; empty if there is none.
std::string complaint(const std::string& part, const std::string& by, Report report = {}) {
    std::string text = json(written("gram"));
    const std::size_t at = text.find(part);
    REQUIRE(at != std::string::npos);
    text.replace(at, part.size(), by);
    const std::size_t kernels = report.kernels.size();
    try {
        add_results(report, "r.json", text);
        return {};
    } catch (const std::invalid_argument& error) {
        CHECK(report.kernels.size() == kernels);
        return error.what();
    }
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("reports are read back unchanged") {
    Report before = written("gram"), after;
    add_results(after, "gram_results.json", json(before));
    after.stamp = before.stamp;
    after.title = before.title;
    REQUIRE(after.notes.size() == 1);
    CHECK(after.notes[0] ==
          "gram is that of gram_results.json, measured 20260131_235959 UTC by weft 0.1.0, 9 runs after 2.");
    after.notes.clear();
    CHECK(json(after) == json(before));
    CHECK(csv_text(after, after.kernels[0]) == csv_text(before, before.kernels[0]));
    CHECK(plot_script(after, after.kernels[0], "p.png") == plot_script(before, before.kernels[0], "p.png"));
    CHECK(markdown_text(after) == markdown_text(before));
}

TEST_CASE("extrapolated times and samples are read as such") {
    Report before = written("gram"), after;
    SizeResult& size = before.kernels[0].sizes[2];
    PathResult guess;
    guess.path = ReportPath::cpu;
    guess.timing.seconds = statistics({7.5});
    guess.extrapolated_from = {1, 10};
    size.paths[0] = guess;
    size.paths[1].verified_items = 64;
    size.compare();
    before.kernels[0].stopped = true;
    add_results(after, "r.json", json(before));
    after.stamp = before.stamp;
    CHECK(json(after) == json(before));
    CHECK(csv_text(after, after.kernels[0]) == csv_text(before, before.kernels[0]));
    CHECK(after.kernels[0].sizes[2].paths[1].over_extrapolated);
    std::string none = json(before);
    const std::size_t at = none.find("\"extrapolated_from\": [");
    none.replace(at, none.find(']', at) - at, "\"extrapolated_from\": [");
    CHECK_THROWS_WITH(add_results(after, "r.json", none),
                      "not results of weft profile: extrapolated_from is empty");
    for (PathResult& path : size.paths)  // a CPU's time beside devices that did not run
        if (path.path != ReportPath::cpu) path = {path.path, {}, false, "left out", 0, 0, 0, 0};
    size.paths[0].verified = false;
    Report alone;
    add_results(alone, "r.json", json(before));
    CHECK(alone.kernels[0].sizes[2].of(ReportPath::cpu) != nullptr);
}

TEST_CASE("results of several kernels become one report") {
    Report report, fewer = written("lattice");
    fewer.batch_sizes = {1, 10};
    fewer.repeats.repeats = 5;
    add_results(report, "a.json", json(written("gram")));
    add_results(report, "b.json", json(fewer));
    CHECK(report.kernels.size() == 2);
    CHECK(report.batch_sizes == std::vector<std::uint64_t>{1, 10, 300});
    CHECK(has(markdown_text(report), "| runs | not the same for all: see the findings |"));
    CHECK(has(markdown_text(report),
              "- lattice is that of b.json, measured 20260131_235959 UTC by weft 0.1.0, 5 runs"));
    CHECK(has(combined_script(report, "p.png"), "lattice encode"));
    CHECK(has(complaint("a CPU", "b CPU", report),
              "of another machine (got a \"GPU\", driver driver 1, b CPU"));
}

TEST_CASE("other files are refused") {
    Report report;
    for (const char* text : {"", "{", "[]", "3", "null", "{}", "{\"kernel\": 3}"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(add_results(report, "r.json", text), std::invalid_argument);
    }
    CHECK(complaint("\"q\": \"4\"", "\"q\": \"5\"").empty());
    CHECK(has(complaint("\"kernel\": \"gram\"", "\"kernel\": \"../gram\""),
              "no name of a kernel (got ../gram)"));
    CHECK(has(complaint("\"process\": \"decode\"", "\"process\": \"mend\""), "no such process (got decode)"));
    CHECK(has(complaint("\"path\": \"cpu\"", "\"path\": \"gpu\""), "no such path (got gpu)"));
    CHECK(has(complaint("\"all_s\": [", "\"all_s\": [0,"), "a time that is not above 0"));
    CHECK(has(complaint("\"median_s\": 0.002", "\"median_s\": -1"), "median_s is not a time above 0"));
    CHECK(has(complaint("\"median_s\": 0.002", "\"median_s\": null"), "not results of weft profile ("));
    CHECK(has(complaint("\"batch_size\": 10,", "\"batch_size\": 0,"),
              "batch_size is out of range (got 0, need 1 to"));
    CHECK(has(complaint("\"items\": 55.0", "\"items\": 0.0"), "items is not above 0"));
    Report nothing = written("gram");
    nothing.kernels[0].sizes.clear();
    nothing.kernels[0].splits.clear();
    CHECK_THROWS_WITH(add_results(report, "r.json", json(nothing)),
                      "not results of weft profile: results is empty");
    CHECK(has(complaint("\"out, of memory\"", "\"\""), "a failure without a reason"));
    CHECK(has(complaint("\"cpu_threads\": 7", "\"cpu_threads\": \"7\""),
              "cpu_threads is out of range (got \"7\""));
    CHECK(has(complaint("\"upload_gb_per_s\": 57", "\"upload_gb_per_s\": -57"), "no number from 0 on"));
    CHECK(has(complaint("\"cpu_threads\": 7", "\"cpu_threads\": -1"), "out of range (got -1, need 1 to"));
    CHECK(has(complaint("\"verified\": true", "\"verified\": false"), "not verified"));
    CHECK(has(complaint("\"gram\"", "\"gram\"", written("gram")),
              "a kernel that another file has too (got gram"));
    CHECK(report.kernels.empty());
}
