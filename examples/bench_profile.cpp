// SPDX-License-Identifier: Apache-2.0
// What a Profile costs: the same batch with and without one, in turns, with device times as they are by
// default and without any.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

#include <weft/weft.hpp>

namespace {

constexpr std::size_t kElements = 65536;

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

class Work {
  public:
    explicit Work(std::size_t jobs)
        : a_(jobs * kElements * weft::kBls12381FpLimbs, 1), b_(a_.size(), 2), out_(a_.size()) {
        const std::size_t limbs = a_.size() / jobs;
        for (std::size_t first = 0; first < a_.size(); first += limbs) {
            const auto part = [&](std::vector<std::uint64_t>& v) {
                return std::span(v).subspan(first, limbs);
            };
            jobs_.push_back({part(a_), part(b_), part(out_)});
        }
    }
    double run(weft::Backend& backend, weft::StageTimes times) {
        const auto start = std::chrono::steady_clock::now();
        weft::field_batch(backend, weft::FieldOp::add, jobs_, {.batch = {.stage_times = times}});
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    bool right() const {
        return std::all_of(out_.begin(), out_.end(), [](std::uint64_t limb) { return limb == 3; });
    }

  private:
    std::vector<std::uint64_t> a_, b_, out_;
    std::vector<weft::FieldJob> jobs_;
};

bool measure(weft::Backend& backend, std::size_t jobs, weft::StageTimes times, int rounds) {
    Work work(jobs);
    std::vector<double> without, with, ratios;
    for (int round = -2; round < rounds; ++round) {
        double plain = 0, profiled = 0;
        for (int turn = 0; turn < 2; ++turn) {
            if ((turn == 0) == (round % 2 == 0)) {
                plain = work.run(backend, times);
            } else {
                const weft::Profile profile(backend);
                profiled = work.run(backend, times);
            }
        }
        if (round < 0) continue;  // both kinds of recordings are made here
        without.push_back(plain);
        with.push_back(profiled);
        ratios.push_back(profiled / plain);
    }
    std::printf("%7zu %5zu  %-12s %12.1f %12.1f %8.3f\n", kElements, jobs,
                times == weft::StageTimes::off ? "off" : "by default", median(without) * 1e6,
                median(with) * 1e6, median(ratios));
    return work.right();
}

}  // namespace

int main(int argc, char** argv) try {
    const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
    weft::Backend backend;
    std::printf("%s\n%7s %5s  %-12s %12s %12s %8s\n", backend.name().c_str(), "elements", "jobs",
                "stage times", "without us", "with us", "ratio");
    bool right = true;
    for (const std::size_t jobs : {1, 16})
        for (const weft::StageTimes times : {weft::StageTimes::automatic, weft::StageTimes::off})
            right = measure(backend, jobs, times, quick ? 3 : jobs == 1 ? 401 : 101) && right;
    std::printf("verified: %s\n", right ? "yes" : "WRONG");
    return right ? 0 : 1;
} catch (const weft::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
