// SPDX-License-Identifier: Apache-2.0
// Measures the cost of a dispatch in sequences of dependent dispatches, which use the same memory, and of
// independent ones; recorded each time, and replayed.
#include <cstdio>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench.hpp"

namespace {

constexpr std::uint32_t kIncrement[] = {
#include "shaders/increment.spv.inc"
};
constexpr std::size_t kElements = 64;  // of a dispatch: one workgroup

double us_since(bench::Clock::time_point start) {
    return bench::seconds_since(start) * 1e6;
}

struct Settings {
    std::vector<std::size_t> dispatches{1000, 5000};
    bench::Options common{.repeats = 51};
};

struct Times {
    std::vector<double> record, submit, total;  // us
};

/// A number of increments, all of the same range or each of a separate one.
class Increments {
  public:
    Increments(weft::Backend& backend, std::size_t dispatches, bool dependent)
        : program_(backend, kIncrement, {.name = "increment"}),
          dispatches_(dispatches),
          step_(dependent ? 0 : std::max<std::size_t>(kElements, 256)),
          x_(backend, dependent ? kElements : dispatches * step_, "x"),
          stream_(backend) {
        stream_.fill(x_.view(), 0);
        stream_.wait();
    }

    void steps(weft::Stream& stream) {
        for (std::size_t d = 0; d < dispatches_; ++d)
            stream.dispatch(program_, {x_.view(d * step_, kElements)}, kElements);
    }
    weft::Sequence record() {
        return stream_.record([this](weft::Stream& s) { steps(s); });
    }
    void recorded_each_time(Times& times) {
        const auto start = bench::Clock::now();
        steps(stream_);
        times.record.push_back(us_since(start));
        const auto submit = bench::Clock::now();
        stream_.submit();
        times.submit.push_back(us_since(submit));
        stream_.wait();
        times.total.push_back(us_since(start));
        ++rounds_;
    }
    void replayed(const weft::Sequence& sequence, Times& times) {
        const auto start = bench::Clock::now();
        stream_.replay(sequence);
        times.submit.push_back(us_since(start));
        stream_.wait();
        times.total.push_back(us_since(start));
        ++rounds_;
    }
    void require_right() {
        const std::vector<std::uint32_t> got = stream_.download(x_);
        const std::size_t each = step_ == 0 ? dispatches_ : 1;
        for (std::size_t i = 0; i < got.size(); ++i) {
            const bool touched = step_ == 0 || i % step_ < kElements;
            if (got[i] != (touched ? each * rounds_ : 0))
                throw weft::Error(weft::Errc::driver, "wrong count at element " + std::to_string(i) +
                                                          " (got " + std::to_string(got[i]) + ")");
        }
    }

  private:
    weft::Program program_;
    std::size_t dispatches_, step_;  // elements from dispatch to dispatch
    weft::Buffer<std::uint32_t> x_;
    weft::Stream stream_;
    std::size_t rounds_ = 0;
};

bench::Json measure(weft::Backend& backend, std::size_t dispatches, bool dependent, int repeats) {
    Increments work(backend, dispatches, dependent);
    const weft::Sequence sequence = work.record();
    Times recorded, replayed, warm_up;
    for (int i = 0; i < 3; ++i) {
        work.recorded_each_time(warm_up);
        work.replayed(sequence, warm_up);
    }
    for (int i = 0; i < repeats; ++i) {  // in turns, so that a slow moment affects both
        work.recorded_each_time(recorded);
        work.replayed(sequence, replayed);
    }
    work.require_right();
    const auto n = static_cast<double>(dispatches);
    const double record = bench::median(recorded.record) / n, each_time = bench::median(recorded.total) / n,
                 submit = bench::median(replayed.submit), total = bench::median(replayed.total) / n;
    std::printf("%-12s %8zu %9llu %12.3f %14.3f %12.1f %14.3f %9s\n", dependent ? "dependent" : "independent",
                dispatches, static_cast<unsigned long long>(sequence.barriers()), record, each_time, submit,
                total, "yes");
    return {{"kind", dependent ? "dependent" : "independent"},
            {"dispatches", dispatches},
            {"barriers", sequence.barriers()},
            {"record_us_per_dispatch", record},
            {"recorded_each_time_us_per_dispatch", each_time},
            {"replay_submit_us", submit},
            {"replay_us_per_dispatch", total},
            {"verified", true}};
}

bool run(const Settings& settings, bench::Json& report) {
    weft::Backend backend;
    const double empty = weft::tune::measure_submit_wait(backend, settings.common.quick ? 50 : 500) * 1e6;
    std::printf("device %s, driver %s\n", backend.name().c_str(), backend.device().driver.c_str());
    std::printf("empty submission and wait: %.1f us\n\n", empty);
    std::printf("%-12s %8s %9s %12s %14s %12s %14s %9s\n", "steps", "number", "barriers", "record us",
                "each time us", "submit us", "replayed us", "verified");
    std::printf("%-12s %8s %9s %12s %14s %12s %14s\n", "", "", "", "/dispatch", "/dispatch", "/replay",
                "/dispatch");
    report = {{"device", backend.name()},
              {"driver", backend.device().driver},
              {"submit_wait_us", empty},
              {"sequences", bench::Json::array()}};
    for (const std::size_t dispatches : settings.dispatches)
        for (const bool dependent : {true, false})
            report["sequences"].push_back(measure(backend, dispatches, dependent, settings.common.repeats));
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    CLI::App app{"Cost of a dispatch in sequences of dependent and of independent ones."};
    CLI::Option* dispatches =
        app.add_option("--dispatches", settings.dispatches, "Steps of a sequence, comma-separated")
            ->delimiter(',')
            ->check(CLI::Range(1, 1000000));
    const auto make_quick = [&] {
        if (dispatches->count() == 0) settings.dispatches = {100};
    };
    return bench::run("bench_sequence", app, settings.common, argc, argv, make_quick,
                      [&](bench::Json& report) { return run(settings, report); });
}
