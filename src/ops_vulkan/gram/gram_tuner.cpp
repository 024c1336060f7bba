// SPDX-License-Identifier: Apache-2.0
#include "ops_vulkan/gram/gram_tuner.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <span>

#include <weft/error.hpp>
#include <weft/profile.hpp>

#include "ops/kernel_matrix/gram_tuning.hpp"
#include "ops_vulkan/gram/gram.hpp"

namespace weft::kernels {
namespace {

constexpr const char* kStreamName = "gram tuning";

/// Numbers as the method packs them. None is 0 or large, because a device multiplies zeros with less power.
std::vector<std::uint32_t> operand_words(const GramPlan& plan) {
    std::vector<std::uint32_t> words(std::size_t{1} << 16);
    std::uint32_t state = 12345;
    for (std::size_t i = 0; i < words.size(); ++i) {
        state = state * 1664525u + 1013904223u;
        const std::uint32_t bits = state ^ (state >> 13);
        if (plan.matrix())
            words[i] = (bits & 0x83ff83ffu) | 0x38003800u;  // 0.5 to 1, either sign
        else if (plan.method == GramMethod::fp64)
            words[i] = i % 2 == 0 ? bits : (bits & 0x800fffffu) | 0x3fe00000u;
        else
            words[i] = (bits & 0x807fffffu) | 0x3f000000u;
    }
    return words;
}

/// What all tiles multiply.
class Trial {
  public:
    Trial(Backend& backend, const GramPlan& plan, const GramProblem& problem)
        : stream_(backend, {.name = kStreamName}),
          problem_(problem),
          planes_(backend, plan.packed_bytes(std::max(problem.rows, problem.columns)) / 4, kStreamName),
          k_(backend, problem.rows * problem.leading * (problem.output == GramReal::float64 ? 2 : 1),
             kStreamName) {
        const std::vector<std::uint32_t> words = operand_words(plan);
        std::uint64_t filled = std::min<std::uint64_t>(words.size(), planes_.size());
        stream_.upload(std::span<const std::uint32_t>(words.data(), filled), planes_.view(0, filled));
        while (filled < planes_.size()) {
            const std::uint64_t more = std::min(filled, planes_.size() - filled);
            stream_.copy<std::uint32_t>(planes_.view(0, more), planes_.view(filled, more));
            filled += more;
        }
        stream_.wait();
    }
    /// Seconds on the device, or on the host if the device has no timestamps.
    double run(Backend& backend, GramProduct& product) {
        const Profile profile(backend);
        const auto start = std::chrono::steady_clock::now();
        product.multiply(stream_, GramRows{planes_, 0, problem_.rows}, GramRows{planes_, 0, problem_.columns},
                         {k_, {problem_.leading}});
        stream_.wait();
        const double host = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        double device = 0;
        for (const StreamReport& report : profile.report().streams)
            if (report.name == kStreamName) device = report.busy_s;
        return device > 0 ? device : host;
    }
    /// Eight rows of K at equal distances.
    std::vector<double> values() {
        std::vector<double> values;
        const std::uint64_t words = problem_.columns * (problem_.output == GramReal::float64 ? 2 : 1);
        const std::uint64_t leading = words / problem_.columns * problem_.leading;
        for (std::uint64_t i = 0; i < 8; ++i) {
            std::vector<std::uint32_t> row(words);
            stream_.download<std::uint32_t>(k_.view(i * (problem_.rows - 1) / 7 * leading, words),
                                            std::span<std::uint32_t>(row));
            append(values, row);
        }
        stream_.fill(k_.view(), 0xffffffffu);
        return values;
    }

    const Stream& stream() const { return stream_; }

  private:
    void append(std::vector<double>& values, const std::vector<std::uint32_t>& row) const {
        if (problem_.output == GramReal::float64) {
            const auto* from = reinterpret_cast<const double*>(row.data());
            values.insert(values.end(), from, from + problem_.columns);
        } else {
            const auto* from = reinterpret_cast<const float*>(row.data());
            values.insert(values.end(), from, from + problem_.columns);
        }
    }
    Stream stream_;
    const GramProblem& problem_;
    Buffer<std::uint32_t> planes_, k_;
};

bool alike(const std::vector<double>& a, const std::vector<double>& b) {
    double largest = 0;
    for (const double value : a) largest = std::max(largest, std::abs(value));
    for (std::size_t i = 0; i < a.size(); ++i)
        if (!(std::abs(a[i] - b[i]) <= 1e-3 * largest)) return false;
    return true;
}

/// Null: the driver cannot make this tile, which is an error for the planned tile alone.
std::unique_ptr<GramProduct> product_of(const Stream& stream, const GramPlan& plan, bool planned) {
    try {
        return std::make_unique<GramProduct>(stream, plan);
    } catch (const Error& error) {
        if (planned || error.code() == Errc::device_lost || error.code() == Errc::out_of_memory) throw;
        return nullptr;
    }
}

}  // namespace

std::size_t best_tile(std::span<const GramTrial> trials) {
    constexpr double kGain = 0.03;  // the run-to-run variation of drivers
    std::size_t best = 0;
    for (std::size_t i = 1; i < trials.size(); ++i) {
        const GramTrial &planned = trials[0], &tried = trials[i];
        const double needed = std::max(kGain * planned.seconds, planned.scatter + tried.scatter);
        if (tried.right && planned.seconds - tried.seconds > needed && tried.seconds < trials[best].seconds)
            best = i;
    }
    return best;
}

std::size_t trial_runs(const GramDevice& device, const GramPlan& plan, int rounds) {
    // The planned tile may be none of the list.
    return (gram_tiles(device, plan.method).size() + 1) * (static_cast<std::size_t>(rounds) + 1);
}

GramTrials try_tiles(Backend& backend, const GramDevice& device, const GramPlan& plan, double flops,
                     int rounds, const std::function<void()>& after_run) {
    const auto run = [&](Trial& trial, GramProduct& product) {
        const double seconds = trial.run(backend, product);
        if (after_run) after_run();
        return seconds;
    };
    GramDevice fresh = device;
    fresh.tiles.clear();
    GramTrials result{gram_class(plan), {}, 0};
    const GramProblem problem = gram_trial(plan, flops);
    const GramPlan by_default = plan_gram(problem, fresh, {.method = plan.method});
    result.trials.push_back({plan_gram(plan.problem, fresh, {.method = plan.method}).tile});
    for (const GramTile& tile : gram_tiles(fresh, plan.method))
        if (tile != result.trials[0].tile) result.trials.push_back({tile});

    Trial trial(backend, by_default, problem);
    std::vector<std::unique_ptr<GramProduct>> products;
    std::vector<std::vector<double>> times(result.trials.size());
    std::vector<double> wanted;
    for (GramTrial& tried : result.trials) {
        const GramPlan candidate = plan_gram(problem, fresh, {.method = plan.method, .tile = tried.tile});
        products.push_back(product_of(trial.stream(), candidate, products.empty()));
        tried.right = products.back() != nullptr;
        if (!tried.right) continue;
        run(trial, *products.back());  // the first run warms up
        const std::vector<double> values = trial.values();
        if (wanted.empty()) wanted = values;
        tried.right = alike(wanted, values);
    }
    for (int round = 0; round < rounds; ++round)
        for (std::size_t i = 0; i < products.size(); ++i)
            if (products[i]) times[i].push_back(run(trial, *products[i]));
    for (std::size_t i = 0; i < times.size(); ++i) {
        if (times[i].empty()) continue;
        std::sort(times[i].begin(), times[i].end());
        const std::size_t runs = times[i].size();
        result.trials[i].seconds = times[i][runs / 2];
        result.trials[i].scatter = (times[i][runs - 1 - runs / 4] - times[i][runs / 4]) / 2;
    }
    result.best = best_tile(result.trials);
    return result;
}

}  // namespace weft::kernels
