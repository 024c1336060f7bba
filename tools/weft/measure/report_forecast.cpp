// SPDX-License-Identifier: Apache-2.0
#include "measure/report_forecast.hpp"

#include <algorithm>
#include <cmath>

#include "cli/figures.hpp"
#include "cli/number_text.hpp"

namespace weft::tool {
namespace {

constexpr double kPatienceFactor = 4;  // a run may take this many times --max-seconds
constexpr double kRunsAtLeast = 6;     // to verify, to wake the device, for warm-up, and kLeastRuns
// A shorter run measures the cost of a call rather than its work. A single size separates the two even less,
// so it needs a longer run.
constexpr double kLeastKnown = 1e-3, kLeastAlone = 10e-3;
constexpr double kLeastShare = 0.05;  // seconds of a figure, however little time is left

/// 64 bits that look random, computed from a number.
std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/// Extrapolates with the power of the size that the two largest known sizes show, at most `growth`. While the
/// fixed cost of a call still dominates, that power is too low. A run may then take too long, but no figure
/// is lost.
double by_power(std::span<const KnownTime> known, double growth, std::uint64_t batch) {
    const KnownTime &last = known.back(), &earlier = known[known.size() - 2];
    const double power = std::log(last.seconds / earlier.seconds) /
                         std::log(static_cast<double>(last.batch) / static_cast<double>(earlier.batch));
    return last.seconds * std::pow(static_cast<double>(batch) / static_cast<double>(last.batch),
                                   std::clamp(power, 0.0, growth));
}

}  // namespace

double extrapolate(std::span<const KnownTime> known, double growth, std::uint64_t batch) {
    if (known.empty()) return 0;
    const KnownTime& last = known.back();
    const auto n = static_cast<double>(batch), n1 = static_cast<double>(last.batch);
    const double by_last = last.seconds * std::pow(n / n1, growth);
    if (known.size() < 2) return by_last;
    const KnownTime& earlier = known[known.size() - 2];
    const auto n0 = static_cast<double>(earlier.batch);
    // Divided by n^(growth - 1), the time is a line.
    const double y0 = earlier.seconds / std::pow(n0, growth - 1),
                 y1 = last.seconds / std::pow(n1, growth - 1);
    const double b = (y1 - y0) / (n1 - n0), a = y1 - b * n1;
    return a < 0 || b < 0 ? by_last : (a + b * n) * std::pow(n, growth - 1);
}

std::vector<std::uint64_t> sampled_items(std::uint64_t batch, std::uint64_t most) {
    std::vector<std::uint64_t> items;
    const std::uint64_t count = std::min(batch, most);
    items.reserve(count);
    // Parts differ by at most one item. The products stay below 2^64, since a batch has at most 2^48 items.
    const std::uint64_t size = count == 0 ? 0 : batch / count, longer = count == 0 ? 0 : batch % count;
    std::uint64_t first = 0;
    for (std::uint64_t part = 0; part < count; ++part) {
        const std::uint64_t length = size + (part < longer ? 1 : 0);
        const std::uint64_t within = part == 0 ? 0 : part + 1 == count ? length - 1 : mixed(part) % length;
        items.push_back(first + within);
        first += length;
    }
    return items;
}

double TimeBudget::share(double weight, double elapsed_s) const {
    const double part = left_ > 0 ? std::min(1.0, weight / left_) : 0;
    return std::max(kLeastShare, (total_s_ - elapsed_s) * part);
}

void TimeBudget::pass(double weight) {
    left_ = std::max(0.0, left_ - weight);
}

double TimeBudget::done() const {
    return weight_ > 0 ? 1 - left_ / weight_ : 1;
}

double TimeBudget::left_s(double elapsed_s) const {
    constexpr double kTells = 0.02;  // share of the weights; a smaller share does not show the rate
    if (done() < kTells) return 0;
    return std::min(elapsed_s * (1 - done()) / done(), std::max(0.0, total_s_ - elapsed_s));
}

double weight_of_size(std::size_t index) {
    return std::ldexp(1.0, static_cast<int>(std::min<std::size_t>(index, 20)));
}

RunLimit run_limit(double max_seconds, double share_s, double total_s) {
    const double by_figure = kPatienceFactor * max_seconds, by_budget = share_s / kRunsAtLeast;
    if (by_budget < by_figure)
        return {by_budget, "--total-seconds " + plain_text(total_s) + " leaves " + duration(by_budget)};
    return {by_figure, "--max-seconds " + plain_text(max_seconds) + " allows " + duration(by_figure)};
}

void Forecast::learn(const SizeResult& size) {
    for (const PathResult& path : size.paths)
        if (path.ran() && !path.extrapolated())
            learn(size.process, path.path, size.batch, path.timing.seconds);
}

void Forecast::learn(std::size_t process, ReportPath path, std::uint64_t batch, const Statistics& seconds) {
    Known& known = known_[{process, path}];
    known.medians.push_back({batch, seconds.median});
    // The minimum is kept too, because other load on the machine must not make larger sizes look too slow.
    known.least.push_back({batch, seconds.min});
}

std::string Forecast::too_long(std::size_t process, ReportPath path, std::uint64_t batch, double growth,
                               const RunLimit& limit) const {
    const auto it = known_.find({process, path});
    if (it == known_.end()) return {};
    const std::vector<KnownTime>& least = it->second.least;
    if (least.back().seconds < (least.size() == 1 ? kLeastAlone : kLeastKnown)) return {};
    double seconds = extrapolate(least, growth, batch);
    if (least.size() > 1 && path != ReportPath::cpu)
        seconds = std::min(seconds, by_power(least, growth, batch));
    if (seconds <= limit.seconds) return {};
    return "left out: one run would take about " + duration(seconds) + " (" + limit.why + ")";
}

PathResult Forecast::cpu_at(std::size_t process, std::uint64_t batch, double growth) const {
    const std::vector<KnownTime>& known = known_.at({process, ReportPath::cpu}).medians;
    PathResult result;
    result.path = ReportPath::cpu;
    result.timing.seconds = statistics({extrapolate(known, growth, batch)});
    for (std::size_t i = known.size() - std::min<std::size_t>(known.size(), 2); i < known.size(); ++i)
        result.extrapolated_from.push_back(known[i].batch);
    return result;
}

KnownTime Forecast::cpu_known(std::size_t process) const {
    const auto it = known_.find({process, ReportPath::cpu});
    return it == known_.end() ? KnownTime{} : it->second.medians.back();
}

}  // namespace weft::tool
