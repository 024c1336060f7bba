// SPDX-License-Identifier: Apache-2.0
// The settings that `weft tune` tries, and when a measured difference counts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "measure/report_measure.hpp"

namespace weft::tool {

/// The facts that determine the candidates.
struct TuneFacts {
    bool can_import = false;  ///< the user's own pages can be imported
    bool can_direct = false;  ///< the host can reach device memory
    bool unified = false;     ///< there is no bus between host and device memory
    unsigned cores = 1;
    std::uint64_t batch_bytes = 0;  ///< bytes in and out of the batch that is measured
    PlanReport plan;                ///< without a tuning: the defaults
};

/// Values to compare with the default, which is not among them.
struct TuneCandidates {
    std::vector<Path> ordinary_paths, page_locked_paths;
    std::vector<std::uint32_t> copy_threads, slots;
    std::vector<std::uint64_t> chunk_bytes;
};
TuneCandidates tune_candidates(const TuneFacts& facts);

/// Number of runs of a tuning, done and in total, for the progress bar. A setting is measured with all its
/// candidates, and the best one, if it is faster, is measured again together with the default.
class TuneSteps {
  public:
    TuneSteps(const TuneCandidates& candidates, std::size_t repeats);
    void run();
    /// Skips the runs that the setting did not need.
    void end_setting();
    std::size_t done() const { return done_; }
    std::size_t total() const { return ends_.empty() ? 0 : ends_.back(); }
    /// Seconds left at the rate so far; 0: not known yet.
    double left_s(double elapsed_s) const;

  private:
    std::vector<std::size_t> ends_;  // of each setting, in the order of the tuning
    std::size_t setting_ = 0, done_ = 0;
};

/// A candidate and the default, measured in turns.
struct TuneComparison {
    double gain = 0;   ///< 1 - median / median of the default
    double noise = 0;  ///< half the sum of both interquartile ranges, over the median of the default
    /// More than the noise, and more than the 3 % by which a driver may vary.
    bool believable() const { return gain > noise && gain > 0.03; }
};
TuneComparison compare(const Statistics& by_default, const Statistics& candidate);

/// The result of a tuning, in words. `file`: where it would be kept; `stored_before`: a tuning of an earlier
/// run was in use.
std::string tune_outcome(const tune::Engine& tuning, bool stored_before, const std::string& file);

/// To be called before anything is measured. Errors: Failure with Exit::failed - there is no folder for a
/// tuning, or it cannot be written; the text begins with `command`.
void require_tuning_folder(const std::string& command, const Backend& backend);

/// Distance between the medians of the upper and the lower half.
double interquartile_range(std::vector<double> values);

}  // namespace weft::tool
