// SPDX-License-Identifier: Apache-2.0
// Measures the cost of a Profile: the same work with and without one, in turns, and where the difference
// arises. A job has 65,536 field additions. Batches run from ordinary memory, which the host copies, and from
// page-locked memory, which it does not, each with the default device times and with none. A stream uploads,
// dispatches and downloads.
#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench.hpp"

namespace {

constexpr auto kField = weft::Field::bls12_381_fp;

constexpr std::size_t kElements = 65536, kLimbs = kElements * weft::kBls12381FpLimbs;
using bench::Clock;
using bench::median;

double us_since(Clock::time_point start) {
    return bench::seconds_since(start) * 1e6;
}

/// The times of one run in microseconds: the total, and the host's parts as BatchReport reports them.
struct Times {
    double wall = 0, copy_in = 0, copy_out = 0, wait = 0;
    double rest() const { return wall - copy_in - copy_out - wait; }
};
using Run = std::function<Times()>;

/// The medians of one kind of turn, and the Vulkan work of each run.
struct Turns {
    std::vector<Times> times;
    double recordings = 0, objects = 0, submissions = 0;

    void add(const Times& t, const weft::Counters& before, const weft::Counters& after) {
        times.push_back(t);
        recordings += static_cast<double>(after.recordings - before.recordings);
        objects += static_cast<double>(after.objects_created - before.objects_created);
        submissions += static_cast<double>(after.submissions - before.submissions);
    }
    template <class Part>
    double of(const Part& part) const {
        std::vector<double> values;
        for (const Times& t : times) values.push_back(part(t));
        return median(std::move(values));
    }
    double wall() const {
        return of([](const Times& t) { return t.wall; });
    }
};

struct Comparison {
    Turns without, with;
    std::vector<double> ratios, open_us, read_us;
};

/// The order of the two changes from round to round, so that a drift of the clocks favours neither.
Comparison compare(weft::Backend& backend, const Run& run, int rounds) {
    Comparison c;
    for (int round = -2; round < rounds; ++round) {
        std::array<Times, 2> times;
        for (const bool first : {true, false}) {
            const bool profiled = first == (round % 2 == 0);
            const Clock::time_point start = Clock::now();
            std::optional<weft::Profile> profile;
            if (profiled) profile.emplace(backend);
            const double open = us_since(start);
            const weft::Counters before = backend.counters();
            const Times t = times[profiled ? 1 : 0] = run();
            if (round < 0) continue;  // both kinds of recordings are made here
            (profiled ? c.with : c.without).add(t, before, backend.counters());
            if (!profiled) continue;
            const Clock::time_point reading = Clock::now();
            if (profile->report().device_s < 0) std::abort();
            c.open_us.push_back(open);
            c.read_us.push_back(us_since(reading));
        }
        if (round >= 0) c.ratios.push_back(times[1].wall / times[0].wall);
    }
    return c;
}

void print(const std::string& what, const Comparison& c, bench::Json& rows) {
    const auto more = [&](const auto& part) { return c.with.of(part) - c.without.of(part); };
    const auto each = [&](double with, double without) {
        return (with - without) / static_cast<double>(c.with.times.size());
    };
    std::printf("%-38s %9.1f %9.1f %7.3f %8.1f %8.1f %8.1f %8.1f   %.2f/%.2f/%.2f %7.1f %7.1f\n",
                what.c_str(), c.without.wall(), c.with.wall(), median(c.ratios),
                more([](const Times& t) { return t.copy_in; }),
                more([](const Times& t) { return t.copy_out; }), more([](const Times& t) { return t.wait; }),
                more([](const Times& t) { return t.rest(); }), each(c.with.recordings, c.without.recordings),
                each(c.with.objects, c.without.objects), each(c.with.submissions, c.without.submissions),
                median(c.open_us), median(c.read_us));
    rows.push_back({{"work", what},
                    {"without_us", c.without.wall()},
                    {"with_us", c.with.wall()},
                    {"ratio", median(c.ratios)},
                    {"open_us", median(c.open_us)},
                    {"read_us", median(c.read_us)}});
}

template <class Memory>
std::vector<weft::FieldJob> jobs_in(const Memory& a, const Memory& b, Memory& out) {
    std::vector<weft::FieldJob> jobs;
    for (std::size_t first = 0; first < out.size(); first += kLimbs) {
        const auto part = [&](auto& v) { return std::span(v.data() + first, kLimbs); };
        jobs.push_back({.a = part(a), .b = part(b), .out = part(out)});
    }
    return jobs;
}

template <class Memory>
bool batches(weft::Backend& backend, const std::string& memory, Memory& a, Memory& b, Memory& out, int rounds,
             bench::Json& rows) {
    std::fill(a.data(), a.data() + a.size(), std::uint64_t{1});
    std::fill(b.data(), b.data() + b.size(), std::uint64_t{2});
    const std::vector<weft::FieldJob> jobs = jobs_in(a, b, out);
    for (const weft::Choice times : {weft::Choice::automatic, weft::Choice::off}) {
        const Run run = [&] {
            const Clock::time_point start = Clock::now();
            const weft::BatchReport r = weft::field_batch(backend, kField, weft::FieldOp::add, jobs,
                                                          {.batch = {.stage_times = times}});
            return Times{us_since(start), r.copy_in_s * 1e6, r.copy_out_s * 1e6, r.wait_s * 1e6};
        };
        const char* const text = times == weft::Choice::off ? "times off" : "times on";
        print(std::to_string(jobs.size()) + " jobs, " + memory + ", " + text, compare(backend, run, rounds),
              rows);
    }
    return std::all_of(out.data(), out.data() + out.size(), [](std::uint64_t limb) { return limb == 3; });
}

bool all_batches(weft::Backend& backend, const std::string& threads, int repeats, bench::Json& rows) {
    bool right = true;
    for (const std::size_t jobs : {1, 16}) {
        const int rounds = std::max(3, repeats / (jobs == 1 ? 1 : 4) / (threads.empty() ? 1 : 4));
        std::vector<std::uint64_t> a(jobs * kLimbs), b(a.size()), out(a.size());
        right = batches(backend, "ordinary" + threads, a, b, out, rounds, rows) && right;
        if (!threads.empty()) continue;
        weft::HostBuffer<std::uint64_t> pa(backend, a.size()), pb(backend, a.size()), pout(backend, a.size());
        right = batches(backend, "page-locked", pa, pb, pout, rounds, rows) && right;
    }
    return right;
}

bool stream(weft::Backend& backend, int repeats, bench::Json& rows) {
    const weft::Program program = weft::field_program(backend, kField, weft::FieldOp::add);
    const std::vector<std::uint64_t> a(kLimbs, 1), b(kLimbs, 2);
    std::vector<std::uint64_t> out(kLimbs);
    weft::Stream s(backend);
    const weft::Buffer<std::uint64_t> da(backend, kLimbs), db(backend, kLimbs), dout(backend, kLimbs);
    const weft::Sequence sequence = s.record([&](weft::Stream& steps) {
        for (int i = 0; i < 16; ++i) steps.dispatch(program, {da, db, dout}, kElements);
    });
    const Run once = [&] {
        const Clock::time_point start = Clock::now();
        s.upload(a, da);
        s.upload(b, db);
        s.dispatch(program, {da, db, dout}, kElements);
        s.download<std::uint64_t>(dout.view(), out);
        return Times{us_since(start)};
    };
    const Run replays = [&] {
        const Clock::time_point start = Clock::now();
        s.replay(sequence);
        s.wait();
        return Times{us_since(start)};
    };
    print("stream: upload, dispatch, download", compare(backend, once, repeats), rows);
    print("stream: replay of 16 dispatches", compare(backend, replays, repeats), rows);
    return std::all_of(out.begin(), out.end(), [](std::uint64_t limb) { return limb == 3; });
}

bool run(int repeats, bench::Json& report) {
    weft::Config one_thread = weft::Config::from_env();
    one_thread.copy_threads = 1;
    weft::Backend backend;
    std::printf(
        "%s\n%zu elements a job, microseconds; medians of turns; what a profile adds to each part of the "
        "host's time\n%-38s %9s %9s %7s %8s %8s %8s %8s   %s %7s %7s\n",
        backend.name().c_str(), kElements, "work", "without", "with", "ratio", "copy in", "copy out", "wait",
        "rest", "rec/obj/subm", "open", "read");
    report = {{"device", backend.name()}, {"elements", kElements}, {"rows", bench::Json::array()}};
    bench::Json& rows = report["rows"];
    bool right = all_batches(backend, "", repeats, rows);
    right = stream(backend, repeats, rows) && right;
    weft::Backend narrow(one_thread);
    right = all_batches(narrow, ", 1 thread", repeats, rows) && right;
    std::printf("verified: %s\n", right ? "yes" : "WRONG");
    return right;
}

}  // namespace

int main(int argc, char** argv) {
    bench::Options options{.repeats = 401};
    CLI::App app{"The cost of a Profile: the same work with and without one, in turns."};
    return bench::run(
        "bench_profile", app, options, argc, argv, [] {},
        [&](bench::Json& report) { return run(options.repeats, report); });
}
