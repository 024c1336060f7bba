// SPDX-License-Identifier: Apache-2.0
// What larger sizes will take, which items stand for all, and how a report's time is shared out. No clock, no
// device: plain arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "report/report_result.hpp"

namespace weft::tool {

struct KnownTime {
    std::uint64_t batch = 0;
    double seconds = 0;
};

/// Seconds at `batch` by the two largest of the known sizes, which are in ascending order: a n^(growth - 1) +
/// b n^growth through both, so that what a call costs whatever its size is not multiplied. Where either part
/// would be below 0, or one size is known, the largest size alone decides by n^growth. Nothing known: 0.
double extrapolate(std::span<const KnownTime> known, double growth, std::uint64_t batch);

/// At most `most` (2 or more) of the items [0, batch), ascending: all of them where they are no more, else
/// one at random of each of as many equal parts, the first and the last item included. The same for the same
/// arguments, always.
std::vector<std::uint64_t> sampled_items(std::uint64_t batch, std::uint64_t most);

/// Shares the seconds of a report out among its figures by their weights. What a figure leaves goes to those
/// after it.
class TimeBudget {
  public:
    TimeBudget(double total_s, double weight) : total_s_(total_s), left_(weight), weight_(weight) {}
    /// What a figure of this weight may take, `elapsed_s` after the beginning; a twentieth of a second at the
    /// least, so that what is quick is always measured.
    double share(double weight, double elapsed_s) const;
    void pass(double weight);
    double total_s() const { return total_s_; }
    double done() const;  ///< of all weights, 0 to 1
    /// At the pace so far, and never more than the budget leaves; 0: not known yet.
    double left_s(double elapsed_s) const;

  private:
    double total_s_, left_, weight_;
};

/// Sizes grow, and so do their figures: the weight of one at the `index`th size.
double weight_of_size(std::size_t index);

/// What one run may take, and where the limit comes from.
struct RunLimit {
    double seconds = 0;
    std::string why;  ///< "--max-seconds 5 allows 20.0 s"
};
/// `share_s`: what the budget `total_s` has for the figure.
RunLimit run_limit(double max_seconds, double share_s, double total_s);

/// Takes what smaller sizes took as a forecast for larger ones.
class Forecast {
  public:
    void learn(const SizeResult& size);
    void learn(std::size_t process, ReportPath path, std::uint64_t batch, const Statistics& seconds);
    /// Why a path is left out at this size; empty: it is not.
    std::string too_long(std::size_t process, ReportPath path, std::uint64_t batch, double growth,
                         const RunLimit& limit) const;
    /// The CPU's figure, `extrapolated_from` included. Something must be known of it.
    PathResult cpu_at(std::size_t process, std::uint64_t batch, double growth) const;
    /// The largest size that is known of the CPU; 0: none.
    KnownTime cpu_known(std::size_t process) const;

  private:
    struct Known {
        std::vector<KnownTime> medians, least;
    };
    std::map<std::pair<std::size_t, ReportPath>, Known> known_;
};

}  // namespace weft::tool
