// SPDX-License-Identifier: Apache-2.0
#include "ops/lattice/lattice_search.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <utility>

#include <weft/error.hpp>

#include "ops/lattice/lattice_check.hpp"

namespace weft {
namespace {

constexpr const char* kFunction = "lattice_search_beta";
constexpr double kLeastBeta = 0x1p-40, kMostBeta = 0x1p40;

[[noreturn]] void refuse(const std::string& what) {
    throw Error(Errc::invalid_argument, std::string(kFunction) + ": " + what);
}

struct Range {
    double low, high;
};

// A code reaches about beta q^levels / 2 to either side. Beyond `high` nothing overloads and cells only grow.
// At `low` all values overload except the smallest.
Range search_range(const LatticeCode& code, std::span<const float> sample,
                   const LatticeSearchOptions& options) {
    float largest = 0;
    for (const float v : sample) largest = std::max(largest, std::fabs(v));
    const double reach = std::pow(static_cast<double>(code.q), code.levels) / 2;
    const double most = largest == 0.0f ? 1.0 : 4 * static_cast<double>(largest) / reach;
    Range range{options.low != 0.0f ? static_cast<double>(options.low) : most / 64,
                options.high != 0.0f ? static_cast<double>(options.high) : most};
    if (options.low == 0.0f) range.low = std::clamp(range.low, kLeastBeta, kMostBeta);
    if (options.high == 0.0f) range.high = std::clamp(range.high, kLeastBeta, kMostBeta);
    if (!(range.low >= kLeastBeta && range.high <= kMostBeta && range.low <= range.high))
        refuse("range of beta (got " + std::to_string(range.low) + " to " + std::to_string(range.high) +
               ", need low <= high, both from 2^-40 to 2^40)");
    return range;
}

// Totals of successive calls. The path and the like are those of the last call.
void add(OpReport& all, const OpReport& one) {
    all.jobs += one.jobs;
    all.elements += one.elements;
    all.chunks += one.chunks;
    all.bundles += one.bundles;
    all.bytes_in += one.bytes_in;
    all.bytes_out += one.bytes_out;
    all.copy_in_s += one.copy_in_s;
    all.copy_out_s += one.copy_out_s;
    all.waits += one.waits;
    all.wait_s += one.wait_s;
    all.mixed_paths |= one.mixed_paths || (all.items != 0 && all.path != one.path);
    all.path = one.path;
    all.split_queues = one.split_queues;
    all.host_memory = one.host_memory;
    all.queues = one.queues;
    all.ring_slots = one.ring_slots;
    all.chunk_elements = one.chunk_elements;
    ++all.items;
}

class Trials {
  public:
    Trials(const kernels::QuantizeSample& quantize, const LatticeCode& code, std::span<const float> sample,
           const LatticeSearchOptions& options)
        : quantize_(quantize),
          code_(code),
          sample_(sample),
          progress_(options.batch.progress),
          y_(sample.size()) {
        options_.width = options.width;
        options_.batch = options.batch;
        options_.batch.progress = {};
        report_.op = kFunction;
    }

    /// `all`: the number of trials that is expected so far.
    LatticeTrial run(double beta, std::size_t all) {
        if (options_.batch.cancel.stop_requested())
            throw Error(Errc::cancelled, std::string(kFunction) + ": cancelled by its stop token (" +
                                             std::to_string(report_.items) + " of " + std::to_string(all) +
                                             " betas were tried)");
        code_.beta = static_cast<float>(beta);
        const OpReport report = quantize_(code_, sample_, y_, options_);
        double sum = 0;
        for (std::size_t i = 0; i < y_.size(); ++i) {
            const double error = static_cast<double>(sample_[i]) - static_cast<double>(y_[i]);
            sum += error * error;
        }
        add(report_, report);
        if (progress_) progress_({report_.items, all, elapsed_s()});
        const auto vectors = static_cast<double>(report.items);
        return {code_.beta, sum / static_cast<double>(y_.size()),
                static_cast<double>(report.retried) / vectors,
                static_cast<double>(report.unresolved) / vectors};
    }

    OpReport report() {
        report_.wall_s = elapsed_s();
        return std::move(report_);
    }

  private:
    double elapsed_s() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    }

    const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    const kernels::QuantizeSample& quantize_;
    LatticeCode code_;
    std::span<const float> sample_;
    const ProgressCallback& progress_;
    LatticeHostOptions options_;
    std::vector<float> y_;
    OpReport report_;
};

// Tries `steps` betas between low and high, each the same multiple of the one before. With `ends` low and
// high are among them.
void geometric(Trials& trials, const Range& range, std::uint32_t steps, bool ends, std::size_t all,
               std::vector<LatticeTrial>& out) {
    const double parts = ends ? steps - 1.0 : steps + 1.0;
    for (std::uint32_t i = 0; i < steps; ++i) {
        const double at = (ends ? i : i + 1.0) / parts;
        out.push_back(trials.run(range.low * std::pow(range.high / range.low, at), all));
    }
}

std::size_t best_of(const std::vector<LatticeTrial>& trials) {
    const auto less = [](const LatticeTrial& a, const LatticeTrial& b) {
        return a.mean_squared_error < b.mean_squared_error;
    };
    return static_cast<std::size_t>(std::min_element(trials.begin(), trials.end(), less) - trials.begin());
}

void by_beta(std::vector<LatticeTrial>& trials) {
    std::sort(trials.begin(), trials.end(),
              [](const LatticeTrial& a, const LatticeTrial& b) { return a.beta < b.beta; });
}

// Retries let a code that is fine enough for small values reach large ones. So the least error may lie below
// any range that is derived from the largest value. With retries the search looks there, and goes on
// downwards while the best beta is among the lowest.
void look_below(Trials& trials, const LatticeCode& code, Range range, const LatticeSearchOptions& options,
                std::vector<LatticeTrial>& out) {
    constexpr int kMost = 4;
    const double span = range.high / range.low, step = std::pow(span, 1 / (options.steps - 1.0));
    for (int i = 0; i < kMost && span > 1 && range.low > kLeastBeta; ++i) {
        const std::size_t best = best_of(out);
        if (out[best].mean_squared_error == 0) return;
        if (i == 0 ? code.max_retries == 0 && best != 0 : best >= options.steps) return;
        range = {std::max(range.low / span, kLeastBeta), std::max(range.low / step, kLeastBeta)};
        geometric(trials, range, options.steps, true, out.size() + options.steps + options.steps / 2, out);
        by_beta(out);
    }
}

// Where to look closer: the best of the first steps and, because a few large values make an error with
// several valleys, the next best that are valleys. Returns indices into `trials`, at most three.
std::vector<std::size_t> valleys_of(const std::vector<LatticeTrial>& trials) {
    constexpr std::size_t kMost = 3;
    const auto error = [&](std::size_t i) { return trials[i].mean_squared_error; };
    std::vector<std::size_t> valleys;
    for (std::size_t i = 0; i < trials.size(); ++i)
        if ((i == 0 || error(i) < error(i - 1)) && (i + 1 == trials.size() || error(i) <= error(i + 1)))
            valleys.push_back(i);
    std::stable_sort(valleys.begin(), valleys.end(),
                     [&](std::size_t a, std::size_t b) { return error(a) < error(b); });
    valleys.resize(std::min(valleys.size(), kMost));
    return valleys;
}

}  // namespace

LatticeSearch kernels::search_beta(const LatticeCode& code, std::span<const float> sample,
                                   const LatticeSearchOptions& options, std::uint32_t threads,
                                   const QuantizeSample& quantize) {
    if (sample.empty()) refuse("the sample is empty (got 0 values, need at least one row)");
    if (options.steps < 2 || options.steps > 1000)
        refuse("steps are out of range (got " + std::to_string(options.steps) + ", need 2 to 1000)");
    LatticeCode checked = code;
    checked.beta = 1;
    check_lattice_code(kFunction, checked);
    const LatticeShape shape = lattice_shape(kFunction, code.lattice, sample.size(), options.width);
    check_finite(kFunction, sample, shape.given_width, threads);
    const Range range = search_range(checked, sample, options);

    Trials trials(quantize, checked, sample, options);
    LatticeSearch search;
    const std::uint32_t closer = options.steps / 2;
    geometric(trials, range, options.steps, true, options.steps + closer, search.trials);
    if (options.low == 0.0f) look_below(trials, checked, range, options, search.trials);
    const std::vector<std::size_t> valleys = valleys_of(search.trials);
    const std::size_t last = search.trials.size() - 1, all = last + 1 + valleys.size() * closer;
    for (const std::size_t at : valleys) {
        const Range near{static_cast<double>(search.trials[at == 0 ? 0 : at - 1].beta),
                         static_cast<double>(search.trials[std::min(at + 1, last)].beta)};
        geometric(trials, near, closer, false, all, search.trials);
    }
    by_beta(search.trials);
    search.best = search.trials[best_of(search.trials)];
    search.report = trials.report();
    return search;
}

}  // namespace weft
