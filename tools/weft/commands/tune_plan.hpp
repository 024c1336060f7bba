// SPDX-License-Identifier: Apache-2.0
// What `weft tune` tries, and when it believes what it measured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "report/report_measure.hpp"

namespace weft::tool {

/// What the candidates depend on.
struct TuneFacts {
    bool can_import = false;  ///< the user's own pages
    bool can_direct = false;  ///< the host reaches device memory
    bool unified = false;     ///< no bus between
    unsigned cores = 1;
    std::uint64_t batch_bytes = 0;  ///< in and out, of what is measured
    PlanReport plan;                ///< without a tuning: the defaults
};

/// Values to measure against the default, which is none of them.
struct TuneCandidates {
    std::vector<Path> ordinary_paths, page_locked_paths;
    std::vector<std::uint32_t> copy_threads, slots;
    std::vector<std::uint64_t> chunk_bytes;
};
TuneCandidates tune_candidates(const TuneFacts& facts);

/// Runs of a tuning, done and in all, for those who wait. A setting is measured among all candidates, and its
/// best once more beside the default where it gains.
class TuneSteps {
  public:
    TuneSteps(const TuneCandidates& candidates, std::size_t repeats);
    void run();
    /// Passes over the runs that the setting did not need.
    void end_setting();
    std::size_t done() const { return done_; }
    std::size_t total() const { return ends_.empty() ? 0 : ends_.back(); }
    /// At the pace so far; 0: not known yet.
    double left_s(double elapsed_s) const;

  private:
    std::vector<std::size_t> ends_;  // of each setting, in the order of the tuning
    std::size_t setting_ = 0, done_ = 0;
};

/// A candidate beside the default, measured in turns.
struct TuneComparison {
    double gain = 0;   ///< 1 - median / median of the default
    double noise = 0;  ///< half the sum of both interquartile ranges, over the median of the default
    /// More than the noise, and more than the 3 % that a driver's mood may make.
    bool believable() const { return gain > noise && gain > 0.03; }
};
TuneComparison compare(const Statistics& by_default, const Statistics& candidate);

/// What became of a tuning, in words. `file`: where it would be kept; `stored_before`: an earlier run's was
/// in use.
std::string tune_outcome(const tune::Engine& tuning, bool stored_before, const std::string& file);

/// Distance between the medians of the upper and the lower half.
double interquartile_range(std::vector<double> values);

}  // namespace weft::tool
