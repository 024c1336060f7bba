// SPDX-License-Identifier: Apache-2.0
// Measures the gain from streaming on this machine: BLS12-381 Fp addition over batches in host memory,
// sequential and pipelined, from ordinary and from page-locked memory, compared with the copy ceiling that is
// measured first.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench.hpp"
#include "cpu/cpu_field.hpp"
#include "cpu/cpu_threads.hpp"

namespace {

using bench::Json;
using bench::median;
using Limbs = std::span<std::uint64_t>;
constexpr std::size_t kLimbs = weft::kBls12381FpLimbs;
constexpr std::size_t kElementBytes = kLimbs * sizeof(std::uint64_t);

struct Settings {
    std::vector<std::size_t> sizes{16384, 65536, 262144, 1048576};
    std::vector<std::size_t> jobs{2, 3, 4, 8, 16};
    bench::Options common{.repeats = 9};
};

struct Row {
    std::size_t elements, jobs;
    std::string source, path;
    double sequential_ms = 0, pipelined_ms = 0, speedup = 0, gb_per_s = 0;
    double ceiling_fraction = 0,
           ceiling_fraction_now = 0;  // of the copy ceiling at the start, and just before this row
    double overlap = 0, resident_fraction = 0;
    bool verified = false;
};

/// Inputs, outputs and expected outputs of one size. Every job has separate memory, ordinary or page-locked.
class Data {
  public:
    Data(weft::Backend& backend, std::size_t elements, std::size_t jobs, bool pinned) {
        const weft::FieldInfo& field = weft::field_info(weft::Field::bls12_381_fp);
        for (std::size_t j = 0; j < jobs; ++j) {
            for (auto* list : {&a_, &b_, &out_}) list->push_back(make(backend, elements * kLimbs, pinned));
            weft::tool::fill_field(field, 2 * j, a_[j]);
            weft::tool::fill_field(field, 2 * j + 1, b_[j]);
            expected_.emplace_back(elements * kLimbs);
            weft::tool::cpu_field<std::uint64_t>(field, weft::FieldOp::add,
                                                 {.a = a_[j], .b = b_[j], .out = expected_[j]},
                                                 weft::tool::cpu_threads());
            work.push_back({.a = a_[j], .b = b_[j], .out = out_[j]});
        }
    }

    void poison() {
        for (Limbs out : out_)
            parallel(out.size(), [&](std::size_t first, std::size_t last) {
                std::fill(out.begin() + static_cast<std::ptrdiff_t>(first),
                          out.begin() + static_cast<std::ptrdiff_t>(last), 0xdeadbeefdeadbeefu);
            });
    }
    bool right(std::size_t jobs) const {
        std::atomic<bool> same{true};
        for (std::size_t j = 0; j < jobs; ++j)
            parallel(out_[j].size(), [&](std::size_t first, std::size_t last) {
                if (std::memcmp(&out_[j][first], &expected_[j][first], (last - first) * 8) != 0) same = false;
            });
        return same;
    }

    std::vector<weft::FieldJob> work;

  private:
    template <class F>
    static void parallel(std::size_t count, const F& body) {
        weft::tool::parallel_for(count, std::size_t{1} << 14, std::min(16u, weft::tool::cpu_threads()), body);
    }

    Limbs make(weft::Backend& backend, std::size_t limbs, bool pinned) {
        if (pinned) return pinned_.emplace_back(backend, limbs).span();
        return ordinary_.emplace_back(limbs);
    }

    std::vector<weft::HostBuffer<std::uint64_t>> pinned_;
    std::vector<std::vector<std::uint64_t>> ordinary_;
    std::vector<Limbs> a_, b_, out_;
    std::vector<std::vector<std::uint64_t>> expected_;
};

double median_ratio(const std::vector<double>& over, const std::vector<double>& under) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < over.size(); ++i) ratios.push_back(over[i] / under[i]);
    return median(std::move(ratios));
}

/// The same kernel on data that is already in device memory.
class Resident {
  public:
    Resident(weft::Backend& backend, std::size_t elements)
        : a_(backend, elements * kLimbs),
          b_(backend, elements * kLimbs),
          out_(backend, elements * kLimbs),
          stream_(backend) {
        stream_.fill(a_.view(), 1u);
        stream_.fill(b_.view(), 2u);
        stream_.wait();
    }
    /// Milliseconds for each of several jobs that are submitted together.
    double ms() {
        constexpr int kDispatches = 2;
        for (int i = 0; i < kDispatches; ++i)
            weft::field_add(stream_, weft::Field::bls12_381_fp, a_, b_, out_);
        const auto start = bench::Clock::now();
        stream_.wait();
        return bench::seconds_since(start) * 1e3 / kDispatches;
    }

  private:
    weft::Buffer<std::uint64_t> a_, b_, out_;
    weft::Stream stream_;
};

Row measure(weft::Backend& backend, Data& data, std::size_t elements, std::size_t jobs, bool pinned,
            int repeats, double ceiling, Resident& resident) {
    const std::span<const weft::FieldJob> work(data.work.data(), jobs);
    const auto run = [&](weft::BatchMode mode, weft::Choice times) {
        return weft::field_batch(backend, weft::Field::bls12_381_fp, weft::FieldOp::add, work,
                                 {.batch = {.mode = mode, .stage_times = times}});
    };
    bool verified = true;
    std::vector<double> sequential, pipelined, resident_ms;
    const double ceiling_now = weft::tune::measure_copy_ceiling(backend, 2, 1, 0.01).concurrent_gb_per_s;
    const auto timed = [&](weft::BatchMode mode, std::vector<double>& times, bool count) {
        data.poison();
        const weft::BatchReport report = run(mode, weft::Choice::off);
        if (count) times.push_back(report.wall_s * 1e3);
        verified = verified && data.right(jobs);
    };
    // Both modes take turns, so that a busy moment of the machine affects both; the first round warms up.
    for (int i = 0; i < repeats + 1; ++i) {
        timed(weft::BatchMode::sequential, sequential, i != 0);
        timed(weft::BatchMode::pipelined, pipelined, i != 0);
        const double ms = resident.ms();
        if (i != 0) resident_ms.push_back(ms);
    }
    const weft::BatchReport profiled = run(weft::BatchMode::pipelined, weft::Choice::on);
    Row row{elements, jobs, pinned ? "pinned" : "ordinary", weft::to_string(profiled.path)};
    row.sequential_ms = median(sequential);
    row.pipelined_ms = median(pipelined);
    // The ratio of neighbouring measurements, because a machine may change its speed between rounds.
    row.speedup = median_ratio(sequential, pipelined);
    row.gb_per_s = static_cast<double>(3 * elements * kElementBytes * jobs) / row.pipelined_ms / 1e6;
    row.ceiling_fraction = row.gb_per_s / ceiling;
    row.ceiling_fraction_now = row.gb_per_s / ceiling_now;
    row.overlap = profiled.overlap();
    row.resident_fraction = median_ratio(resident_ms, pipelined) * static_cast<double>(jobs);
    row.verified = verified && data.right(jobs);
    return row;
}

void print(const Row& r) {
    std::printf("%9zu %5zu  %-8s %-8s %10.3f %10.3f %7.2fx %9.4f %8.2f %8.2f %8.2f %8.2f %9.2f  %s\n",
                r.elements, r.jobs, r.source.c_str(), r.path.c_str(), r.sequential_ms, r.pipelined_ms,
                r.speedup, r.pipelined_ms / static_cast<double>(r.jobs), r.gb_per_s, r.ceiling_fraction,
                r.ceiling_fraction_now, r.overlap, r.resident_fraction, r.verified ? "yes" : "WRONG");
}

Json to_json(const Row& r) {
    return {{"elements", r.elements},
            {"jobs", r.jobs},
            {"source", r.source},
            {"path", r.path},
            {"sequential_ms", r.sequential_ms},
            {"pipelined_ms", r.pipelined_ms},
            {"speedup", r.speedup},
            {"gb_per_s", r.gb_per_s},
            {"ceiling_fraction", r.ceiling_fraction},
            {"ceiling_fraction_now", r.ceiling_fraction_now},
            {"overlap", r.overlap},
            {"resident_fraction", r.resident_fraction},
            {"verified", r.verified}};
}

bool run(const Settings& settings, Json& report) {
    weft::Backend backend;
    const weft::DeviceInfo& device = backend.device();
    std::printf("device   %s (%s)\ndriver   %s\n", device.name.c_str(), weft::to_string(device.type),
                device.driver.c_str());
    if (device.type == weft::DeviceType::cpu)
        std::printf(
            "note     a software device shares the processor with this program: it measures overhead, not "
            "speed\n");
    const weft::tune::CopyCeiling ceiling =
        weft::tune::measure_copy_ceiling(backend, 2, 1, settings.common.quick ? 0.02 : 0.1);
    std::printf("copies   upload %.2f, download %.2f, both at 2:1 %.2f GB/s\n\n", ceiling.upload_gb_per_s,
                ceiling.download_gb_per_s, ceiling.concurrent_gb_per_s);
    std::printf("%9s %5s  %-8s %-8s %10s %10s %8s %9s %8s %8s %8s %8s %9s  %s\n", "elements", "jobs",
                "source", "path", "seq ms", "pipe ms", "speed-up", "ms/job", "GB/s", "of copy", "(now)",
                "overlap", "of resid.", "verified");

    report = {{"device", device.name},
              {"driver", device.driver},
              {"copy_ceiling_gb_per_s", ceiling.concurrent_gb_per_s},
              {"upload_gb_per_s", ceiling.upload_gb_per_s},
              {"download_gb_per_s", ceiling.download_gb_per_s},
              {"rows", Json::array()}};
    bool all_right = true;
    for (const bool pinned : {false, true}) {
        for (const std::size_t elements : settings.sizes) {
            // Short runs scatter more, so they are repeated more often.
            const int repeats = elements <= 65536 && !settings.common.quick ? 3 * settings.common.repeats
                                                                            : settings.common.repeats;
            Resident resident(backend, elements);
            Data data(backend, elements, *std::max_element(settings.jobs.begin(), settings.jobs.end()),
                      pinned);
            for (const std::size_t jobs : settings.jobs) {
                const Row row = measure(backend, data, elements, jobs, pinned, repeats,
                                        ceiling.concurrent_gb_per_s, resident);
                print(row);
                report["rows"].push_back(to_json(row));
                all_right = all_right && row.verified;
            }
        }
    }
    return all_right;
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    CLI::App app{"Streams BLS12-381 Fp additions through the device: sequential against pipelined."};
    const CLI::Range positive(1, 1 << 30);
    CLI::Option* sizes = app.add_option("--sizes", settings.sizes, "Elements a job, comma-separated")
                             ->delimiter(',')
                             ->check(positive);
    CLI::Option* jobs = app.add_option("--jobs", settings.jobs, "Jobs a batch, comma-separated")
                            ->delimiter(',')
                            ->check(positive);
    const auto make_quick = [&] {
        if (sizes->count() == 0) settings.sizes = {16384, 65536};
        if (jobs->count() == 0) settings.jobs = {2, 4};
    };
    return bench::run("bench_batch_pipelined", app, settings.common, argc, argv, make_quick,
                      [&](Json& report) { return run(settings, report); });
}
