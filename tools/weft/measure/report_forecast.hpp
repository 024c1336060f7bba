// SPDX-License-Identifier: Apache-2.0
// Predicts how long larger sizes take, selects the items that represent a batch, and shares out the time of a
// report. Plain arithmetic, without clock or device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "measure/report_result.hpp"

namespace weft::tool {

struct KnownTime {
    std::uint64_t batch = 0;
    double seconds = 0;
};

/// Seconds at `batch`, extrapolated from the two largest known sizes (`known` is in ascending order) by a
/// n^(growth - 1) + b n^growth through both, so that the fixed cost of a call is not multiplied. If a or b
/// would be below 0, or only one size is known, the largest size alone is scaled by n^growth. 0 if nothing is
/// known.
double extrapolate(std::span<const KnownTime> known, double growth, std::uint64_t batch);

/// At most `most` (2 or more) of the items [0, batch), ascending. If there are no more than that, all of
/// them; otherwise [0, batch) is cut into `most` equal parts with one random item each, and the first and the
/// last item are included. Equal arguments always give equal items.
std::vector<std::uint64_t> sampled_items(std::uint64_t batch, std::uint64_t most);

/// Shares the seconds of a report among its figures by their weights. Time that a figure does not use goes to
/// the figures after it.
class TimeBudget {
  public:
    TimeBudget(double total_s, double weight) : total_s_(total_s), left_(weight), weight_(weight) {}
    /// The seconds that a figure of this weight may take, `elapsed_s` after the beginning. It is at least a
    /// twentieth of a second, so that quick work is always measured.
    double share(double weight, double elapsed_s) const;
    void pass(double weight);
    double total_s() const { return total_s_; }
    double done() const;  ///< share of all weights, 0 to 1
    /// At the rate so far, and never more than the budget leaves; 0: not known yet.
    double left_s(double elapsed_s) const;

  private:
    double total_s_, left_, weight_;
};

/// The weight of a figure at the `index`th size. Larger sizes have larger weights.
double weight_of_size(std::size_t index);

/// The seconds that one run may take, and the reason for this limit.
struct RunLimit {
    double seconds = 0;
    std::string why;  ///< "--max-seconds 5 allows 20.0 s"
};
/// `share_s`: the part of the budget `total_s` that the figure has.
RunLimit run_limit(double max_seconds, double share_s, double total_s);

/// Predicts the times of larger sizes from those of smaller ones.
class Forecast {
  public:
    void learn(const SizeResult& size);
    void learn(std::size_t process, ReportPath path, std::uint64_t batch, const Statistics& seconds);
    /// Why a path is left out at this size; empty: it is not left out.
    std::string too_long(std::size_t process, ReportPath path, std::uint64_t batch, double growth,
                         const RunLimit& limit) const;
    /// The CPU's figure, with `extrapolated_from`. At least one size of the CPU must be known.
    PathResult cpu_at(std::size_t process, std::uint64_t batch, double growth) const;
    /// The largest known size of the CPU; 0: none.
    KnownTime cpu_known(std::size_t process) const;

  private:
    struct Known {
        std::vector<KnownTime> medians, least;
    };
    std::map<std::pair<std::size_t, ReportPath>, Known> known_;
};

}  // namespace weft::tool
