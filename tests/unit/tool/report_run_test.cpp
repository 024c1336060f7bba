// SPDX-License-Identifier: Apache-2.0
// A report on a simulated op, with CUDA and without a device.
#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "cli/figures.hpp"
#include "measure/report_run.hpp"
#include "report/report_files.hpp"
#include "report/report_findings.hpp"

using namespace weft::tool;

namespace {

constexpr std::uint64_t kLosesCuda = 100, kWrongByCuda = 200, kFastAlone = 7;

/// Its "device" is a number; it fails or is wrong at the sizes above.
class MadeUpWork : public ReportWork {
  public:
    explicit MadeUpWork(std::uint64_t batch) : batch_(batch) {}
    std::uint64_t bytes_in(std::size_t) const override { return batch_; }
    std::uint64_t bytes_out(std::size_t) const override { return batch_; }
    void run_cpu(std::size_t) override {  // of several threads: ten times as fast, or as slow
        const int us = threads_ == 1 ? 200 : batch_ == kFastAlone ? 2000 : 20;
        std::this_thread::sleep_for(std::chrono::microseconds(us));
    }
    void run_cpu_of(std::size_t process, std::span<const std::uint64_t>) override { run_cpu(process); }
    void prepare(ReportPath path) override { path_ = path; }
    void release() override { path_ = ReportPath::cpu; }
    void run(std::size_t) override {
        REQUIRE((path_ == ReportPath::ordinary || path_ == ReportPath::cuda));
        std::this_thread::sleep_for(std::chrono::microseconds(20));
        if (path_ == ReportPath::cuda && batch_ == kLosesCuda)
            throw weft::Error(weft::Errc::device_lost, "made up: the context is gone");
        result_ = batch_;
    }
    void record(std::size_t, weft::Stream&) override { FAIL("no path is resident"); }
    void verify(std::size_t, weft::Stream* stream) override {
        CHECK(stream == nullptr);
        if (result_ != batch_ || (path_ == ReportPath::cuda && batch_ == kWrongByCuda))
            throw WrongResult("not what the CPU has");
        result_ = 0;
    }

  private:
    std::uint64_t batch_, result_ = 0;
    ReportPath path_ = ReportPath::cpu;
};

class MadeUp : public ReportKernel {
  public:
    std::string name() const override { return "made-up"; }
    std::string unit() const override { return "things"; }
    std::vector<std::pair<std::string, std::string>> configuration() const override { return {{"a", "b"}}; }
    std::vector<std::string> processes() const override { return {"make"}; }
    double host_bytes(std::uint64_t) const override { return 0; }
    std::unique_ptr<ReportWork> make(const ReportTargets&, std::uint64_t batch, unsigned) const override {
        return std::make_unique<MadeUpWork>(batch);
    }
};

Report report_on(std::vector<std::uint64_t> sizes, std::vector<ReportPath> paths) {
    Report report;
    report.machine.device = "a GPU";
    report.machine.backend = paths.size() == 2 ? "cuda" : "vulkan";
    report.machine.cuda = "CUDA 13.0";
    report.batch_sizes = sizes;
    report.kernels.push_back(
        run_kernel({}, MadeUp(), {std::move(sizes), std::move(paths), {3, 1, 1}, 1, {}}));
    return report;
}

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

const std::vector<ReportPath> kBoth{ReportPath::cpu, ReportPath::ordinary, ReportPath::cuda},
    kCudaAlone{ReportPath::cpu, ReportPath::cuda};

}  // namespace

TEST_CASE("CUDA is compared with the CPU, and with Vulkan from the same memory") {
    const KernelResult result = report_on({10}, kBoth).kernels[0];
    REQUIRE(result.sizes.size() == 1);
    const SizeResult& size = result.sizes[0];
    REQUIRE(size.paths.size() == 3);
    const double cpu = size.paths[0].timing.seconds.median, vulkan = size.paths[1].timing.seconds.median,
                 cuda = size.paths[2].timing.seconds.median;
    CHECK(size.paths[2].path == ReportPath::cuda);
    CHECK(size.paths[2].verified);
    CHECK(size.paths[2].speedup == doctest::Approx(cpu / cuda));
    CHECK(size.paths[2].over_vulkan == doctest::Approx(vulkan / cuda));
    CHECK(size.paths[1].over_vulkan == 0);
    CHECK(result.has(ReportPath::cuda));
    CHECK_FALSE(result.has(ReportPath::resident));
    CHECK_FALSE(result.any_wrong);
}

TEST_CASE("the baseline runs on one thread or all, whichever is faster at the size") {
    KernelResult result = run_kernel({}, MadeUp(), {{kFastAlone, 10}, kCudaAlone, {3, 1, 1}, 8, {}});
    REQUIRE(result.sizes.size() == 2);
    CHECK(result.sizes[0].paths[0].threads == 1);
    CHECK(result.sizes[1].paths[0].threads == 8);
    CHECK(result.sizes[0].paths[1].threads == 0);
    Report report = report_on({10}, kCudaAlone);
    report.kernels[0] = result;
    CHECK(json_text(report, result).find("\"threads\": 8") != std::string::npos);
    CHECK(markdown_text(report).find("| cpu, 1 thread |") != std::string::npos);
    CHECK(markdown_text(report).find("| cpu, 8 threads |") != std::string::npos);
}

TEST_CASE("CUDA alone is compared only with the CPU") {
    const Report report = report_on({10}, kCudaAlone);
    const SizeResult& size = report.kernels[0].sizes[0];
    REQUIRE(size.paths.size() == 2);
    CHECK(size.paths[0].verified);
    CHECK(size.paths[1].speedup > 0);
    CHECK(size.paths[1].over_vulkan == 0);
    CHECK(size.paths[1].ceiling_s == 0);
    CHECK(report.kernels[0].splits.empty());
    CHECK(json_text(report, report.kernels[0]).find("\"backend\": \"cuda\"") != std::string::npos);
    CHECK(combined_script(report, "p.png").find("NaN") == std::string::npos);
}

TEST_CASE("a size at which CUDA fails or is wrong has the reason, and the others continue") {
    const Report report = report_on({10, kLosesCuda, kWrongByCuda, 1000}, kBoth);
    const KernelResult& result = report.kernels[0];
    REQUIRE(result.sizes.size() == 4);
    CHECK(result.any_wrong);
    for (const SizeResult& size : result.sizes) CHECK(size.of(ReportPath::ordinary) != nullptr);
    CHECK(result.sizes[1].paths[2].failure == "made up: the context is gone");
    CHECK(result.sizes[2].paths[2].failure == "wrong result: not what the CPU has");
    CHECK(result.sizes[3].of(ReportPath::cuda) != nullptr);
    CHECK(count_of(markdown_text(report), "| cuda | did not run |") == 2);
    CHECK(markdown_text(report).find("100 things, cuda, did not run: made up: the context is gone.") !=
          std::string::npos);
}

TEST_CASE("where the time goes: names its run, shares of it, and the time in no stage") {
    Report report = report_on({10}, kBoth);
    KernelResult& result = report.kernels[0];
    result.splits.push_back({0, 10, 3, 2e-3, 1.5e-3, 0.25, 0.1, {{"kernel", 1.6e-3}, {"copy-in", 1e-3}}});
    std::string markdown = markdown_text(report);
    CHECK(markdown.find("Of calls of their own from ordinary memory under a profile") != std::string::npos);
    CHECK(markdown.find(
              "| process | batch | calls | call | timed | busy, overlapping | simultaneous | none |") !=
          std::string::npos);
    CHECK(markdown.find(
              "| make | 10 | 3 | 2.00 ms | 1.50 ms | kernel 1.60 ms (80 %), copy-in 1.00 ms (50 %) | 25 % | "
              "10 % |") != std::string::npos);
    const std::string json = json_text(report, result);
    for (const char* part : {"\"run\": \"calls of their own", "\"calls\": 3", "\"wall_s\": 0.002",
                             "\"timed_median_s\": 0.0015", "\"idle\": 0.1", "\"kernel\": 0.0016"}) {
        CAPTURE(part);
        CHECK(json.find(part) != std::string::npos);
    }
    result.splits[0].idle.reset();
    markdown = markdown_text(report);
    CHECK(markdown.find("| 25 % | unknown |") != std::string::npos);
    CHECK(json_text(report, result).find("\"idle\": null") != std::string::npos);
}

TEST_CASE("files show CUDA over the CPU and over Vulkan") {
    Report report = report_on({10, kLosesCuda}, kBoth);
    KernelResult& result = report.kernels[0];
    result.sizes[0].paths[1].speedup = 2;
    result.sizes[0].paths[2].speedup = 6;
    result.sizes[0].paths[2].over_vulkan = 3;
    const std::string csv = csv_text(report, result);
    const std::size_t lines = count_of(csv, "\n"), columns = count_of(csv.substr(0, csv.find('\n')), ",");
    CHECK(lines == 7);
    CHECK(count_of(csv, ",") == lines * columns);
    CHECK(csv.find(",6,3,,") != std::string::npos);
    const std::string json = json_text(report, result);
    CHECK(count_of(json, "\"over_vulkan\": 3.0") == 1);
    CHECK(count_of(json, "\"over_vulkan\"") == 1);
    CHECK(json.find("\"cuda\": \"CUDA 13.0\"") != std::string::npos);
    const std::string markdown = markdown_text(report);
    CHECK(markdown.find("| 6x; 3x of Vulkan |") != std::string::npos);
    CHECK(markdown.find("backend vulkan, beside it CUDA 13.0") != std::string::npos);
    CHECK(markdown.find("made-up make: from ordinary memory CUDA has 3x (at 10) the speed of Vulkan.") !=
          std::string::npos);
    CHECK(markdown.find("by CUDA from ordinary memory the device beats the CPU at every size") !=
          std::string::npos);
    CHECK(plot_script(report, result, "p.png").find("title 'cuda/vulkan'") != std::string::npos);
    const std::string all = combined_script(report, "p.png");
    CHECK(all.find("'CUDA over Vulkan, ordinary memory'") != std::string::npos);
    CHECK(all.find("title 'cuda'") != std::string::npos);
    CHECK(all.find("resident") == std::string::npos);
}

TEST_CASE("files show the share of resident, and of multiplications where they are the higher floor") {
    Report report = report_on({10}, {ReportPath::cpu, ReportPath::ordinary});
    SizeResult& size = report.kernels[0].sizes[0];
    PathResult& ordinary = size.paths[1];
    ordinary.timing.seconds.median = 4e-3;
    PathResult resident;
    resident.path = ReportPath::resident;
    resident.timing.seconds = statistics({2e-3});
    resident.verified = true;
    resident.ceiling_s = 0.5e-3;
    resident.arithmetic_s = 1.5e-3;
    size.paths.push_back(resident);
    size.compare();
    CHECK(size.paths[1].of_resident == doctest::Approx(0.5));
    CHECK(size.paths[2].of_resident == 0);
    CHECK(size.paths[2].of_ceiling() == doctest::Approx(0.25));
    CHECK(size.paths[2].of_floor() == doctest::Approx(0.75));
    const KernelResult& result = report.kernels[0];
    CHECK(markdown_text(report).find("| 25 %; multiply 75 % |  |") != std::string::npos);
    CHECK(markdown_text(report).find("| 50 % |") != std::string::npos);
    CHECK(csv_text(report, result).find(",0.25,0.75,,,yes,") != std::string::npos);
    const std::string json = json_text(report, result);
    for (const char* part : {"\"of_resident\": 0.5", "\"arithmetic_s\": 0.0015", "\"of_floor\": 0.75",
                             "\"bound\": \"multiply\""}) {
        CAPTURE(part);
        CHECK(json.find(part) != std::string::npos);
    }
    size.paths[2].arithmetic_s = 0.1e-3;  // below the memory's
    CHECK(size.paths[2].of_floor() == doctest::Approx(0.25));
    CHECK(markdown_text(report).find("multiply 2") == std::string::npos);
    CHECK(json_text(report, result).find("\"bound\": \"memory\"") != std::string::npos);
    size.paths[2].arithmetic_s = 0;
    CHECK(json_text(report, result).find("\"bound\"") == std::string::npos);
}

namespace {

/// Its CPU takes 20 us an item, its device next to nothing. A result is one more than its item, but at
/// `wrong`.
class SlowWork : public ReportWork {
  public:
    SlowWork(std::uint64_t batch, std::uint64_t wrong) : batch_(batch), wrong_(wrong) {}
    std::uint64_t bytes_in(std::size_t) const override { return batch_; }
    std::uint64_t bytes_out(std::size_t) const override { return batch_; }
    void run_cpu(std::size_t) override {
        items_.clear();
        std::this_thread::sleep_for(std::chrono::microseconds(20 * batch_));
    }
    void run_cpu_of(std::size_t, std::span<const std::uint64_t> items) override {
        items_.assign(items.begin(), items.end());
        REQUIRE(items_.size() == 64);
        CHECK(items_.front() == 0);
        CHECK(items_.back() == batch_ - 1);
    }
    void prepare(ReportPath) override { results_.resize(batch_); }
    void release() override {}
    void run(std::size_t) override {
        for (std::uint64_t i = 0; i < batch_; ++i) results_[i] = i == wrong_ ? 0 : i + 1;
    }
    void record(std::size_t, weft::Stream&) override { FAIL("no path is resident"); }
    void verify(std::size_t, weft::Stream*) override {
        const std::size_t count = items_.empty() ? batch_ : items_.size();
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t item = items_.empty() ? i : items_[i];
            if (results_[item] != item + 1) throw WrongResult("item " + std::to_string(item));
        }
        std::fill(results_.begin(), results_.end(), 0);
    }

  private:
    std::uint64_t batch_, wrong_;
    std::vector<std::uint64_t> items_, results_;
};

class Slow : public ReportKernel {
  public:
    explicit Slow(std::uint64_t wrong = ~std::uint64_t{0}, double host_bytes = 0)
        : wrong_(wrong), host_bytes_(host_bytes) {}
    std::string name() const override { return "slow"; }
    std::string unit() const override { return "things"; }
    std::vector<std::pair<std::string, std::string>> configuration() const override { return {{"a", "b"}}; }
    std::vector<std::string> processes() const override { return {"make"}; }
    double host_bytes(std::uint64_t batch) const override { return batch == kTooSlow ? host_bytes_ : 0; }
    std::uint64_t sample_size() const override { return 64; }
    std::unique_ptr<ReportWork> make(const ReportTargets&, std::uint64_t batch, unsigned) const override {
        return std::make_unique<SlowWork>(batch, wrong_);
    }
    static constexpr std::uint64_t kTooSlow = 100'000;  // 2 s, of 4 times 0.05

  private:
    std::uint64_t wrong_;
    double host_bytes_;
};

const std::vector<ReportPath> kVulkanAlone{ReportPath::cpu, ReportPath::ordinary};
constexpr Repeats kShort{3, 1, 0.05};

Report slow_report(std::vector<std::uint64_t> sizes, const Slow& kernel) {
    Report report;
    report.machine.device = "a GPU";
    report.batch_sizes = sizes;
    report.repeats = kShort;
    report.kernels.push_back(run_kernel({}, kernel, {std::move(sizes), kVulkanAlone, kShort, 1}));
    return report;
}

}  // namespace

TEST_CASE("where the CPU is too slow the device is measured, compared at samples, and the CPU extrapolated") {
    const Report report = slow_report({100, 1000, Slow::kTooSlow}, Slow());
    const KernelResult& result = report.kernels[0];
    REQUIRE(result.sizes.size() == 3);
    const SizeResult& size = result.sizes[2];
    const PathResult &cpu = size.paths[0], &device = size.paths[1];
    CHECK(cpu.extrapolated_from == std::vector<std::uint64_t>{100, 1000});
    CHECK(cpu.timing.seconds.median > 1.9);
    CHECK(cpu.timing.seconds.median < 20);  // of a machine that is busy
    CHECK(cpu.verified);
    CHECK(device.verified);
    CHECK(device.verified_items == 64);
    CHECK(device.over_extrapolated);
    CHECK(device.speedup == doctest::Approx(cpu.timing.seconds.median / device.timing.seconds.median));
    CHECK_FALSE(result.sizes[1].paths[0].extrapolated());
    CHECK_FALSE(result.sizes[1].paths[1].over_extrapolated);
    CHECK(result.sizes[1].paths[1].verified_items == 0);
    const std::string json = json_text(report, result);
    CHECK(count_of(json, "\"extrapolated\": true") == 1);
    CHECK(count_of(json, "\"extrapolated\": false") == 2);
    CHECK(count_of(json, "\"speedup_extrapolated\": true") == 1);
    CHECK(count_of(json, "\"verified_items\": 64") == 1);
    const std::string csv = csv_text(report, result);
    CHECK(count_of(csv, ",yes,,time,") == 1);
    CHECK(count_of(csv, ",yes,64,speedup,") == 1);
    CHECK(count_of(csv, ",") == count_of(csv, "\n") * count_of(csv.substr(0, csv.find('\n')), ","));
    const std::string markdown = markdown_text(report);
    CHECK(count_of(markdown, "| 100,000 | cpu, extrapolated | ~") == 1);
    CHECK(markdown.find("slow make: the CPU's time is extrapolated") != std::string::npos);
    CHECK(count_of(markdown, "| ~" + factor(device.speedup) + " |") == 1);
    const std::string plot = plot_script(report, result, "p.png");
    CHECK(plot.find("time (o: CPU extrapolated)") != std::string::npos);
    CHECK(plot.find("speed-up over the CPU (o: CPU") != std::string::npos);
    CHECK(plot.find("ceiling (o:") == std::string::npos);
    CHECK(plot.find("pt 6") != std::string::npos);
    CHECK(combined_script(report, "p.png").find("best speed-up over the CPU as measured") !=
          std::string::npos);
}

TEST_CASE("a large size alone is extrapolated from sizes that are run for it") {
    const Report report = slow_report({Slow::kTooSlow}, Slow());
    const SizeResult& size = report.kernels[0].sizes[0];
    CHECK(size.paths[0].extrapolated_from == std::vector<std::uint64_t>{256, 1024});
    CHECK(size.paths[1].ran());
}

TEST_CASE("a wrong result among the samples is found; memory that does not fit stays a reason") {
    const KernelResult wrong = slow_report({10, Slow::kTooSlow}, Slow(Slow::kTooSlow - 1)).kernels[0];
    CHECK(wrong.any_wrong);
    CHECK(wrong.sizes[1].paths[1].failure == "wrong result: item 99999");
    const KernelResult large = slow_report({10, Slow::kTooSlow}, Slow(~std::uint64_t{0}, 1e18)).kernels[0];
    CHECK(large.sizes[1].common_failure().starts_with("does not fit host memory"));
}

TEST_CASE("figures that the report's time has no room for are left out, and the rest is measured") {
    RunSettings settings{{10, 1000, 4000}, kVulkanAlone, {3, 1, 5}, 1};
    ReportClock clock(0.2, weight_of(Slow(), settings));
    std::size_t figures = 0;
    settings.clock = &clock;
    settings.on_figure = [&] { ++figures; };
    const KernelResult result = run_kernel({}, Slow(), settings);
    CHECK(figures == 6);
    CHECK(clock.done() == doctest::Approx(1));
    CHECK(result.sizes[2].paths[0].extrapolated());  // 80 ms, of which six runs do not fit
    CHECK(result.sizes[2].paths[1].ran());
}

TEST_CASE("a stop ends the measuring between runs, and what is measured is kept") {
    std::size_t runs = 0;
    RunSettings settings{{10, 100, 1000}, kVulkanAlone, kShort, 1};
    bool stop = false;
    settings.on_size = [&](const SizeResult& size) { stop = size.batch == 100; };
    settings.stop = [&] { return ++runs, stop; };
    const KernelResult result = run_kernel({}, Slow(), settings);
    CHECK(result.stopped);
    REQUIRE(result.sizes.size() == 2);  // of 1,000 there is nothing to compare
    for (const SizeResult& size : result.sizes) CHECK(size.paths[1].speedup > 0);
    Report report;
    CHECK(json_text(report, result).find("\"stopped\": true") != std::string::npos);
    settings.stop = [] { return true; };
    CHECK(run_kernel({}, Slow(), settings).sizes.empty());
}
