// SPDX-License-Identifier: Apache-2.0
// Measures a kernel at all sizes on all paths. A failure is part of the result.
#pragma once

#include <functional>
#include <vector>

#include "measure/report_forecast.hpp"
#include "measure/report_kernel.hpp"

namespace weft::tool {

/// The clock of a report, shared by all its kernels.
class ReportClock {
  public:
    ReportClock(double total_s, double weight) : budget_(total_s, weight) {}
    double share(double weight) const { return budget_.share(weight, elapsed_s()); }
    double left_s() const { return budget_.left_s(elapsed_s()); }
    double total_s() const { return budget_.total_s(); }
    double done() const { return budget_.done(); }
    void pass(double weight) { budget_.pass(weight); }

  private:
    double elapsed_s() const;
    TimeBudget budget_;
    double begin_s_ = seconds_now();
};

struct RunSettings {
    std::vector<std::uint64_t> batch_sizes;
    std::vector<ReportPath> paths;  ///< to measure, the CPU first; only those that `targets` has
    Repeats repeats;
    unsigned threads = 1;
    std::function<void(const SizeResult&)> on_size = {};  ///< called for each process at each size
    ReportClock* clock = nullptr;                         ///< null: no limit of time
    std::function<void()> on_figure = {};                 ///< called when the clock has passed another figure
    std::function<bool()> stop = {};                      ///< called before each run; true: end here
};

/// The weight of all figures of a kernel, for a ReportClock.
double weight_of(const ReportKernel& kernel, const RunSettings& settings);

/// Ceilings and stages are measured with Vulkan; without it there are none. After a stop it returns what has
/// been measured. Errors: weft::Error device_lost from Vulkan. Any other failure affects only its path at its
/// size.
KernelResult run_kernel(const ReportTargets& targets, const ReportKernel& kernel,
                        const RunSettings& settings);

}  // namespace weft::tool
