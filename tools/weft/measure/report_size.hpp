// SPDX-License-Identifier: Apache-2.0
// One kernel at one size, for run_kernel(): every process on every path, and the stages of a call.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "measure/report_run.hpp"

namespace weft::tool {

/// Thrown when the settings request a stop. Not a std::exception, so that no path reports it as its failure.
struct Stopped {};

/// Calls `body` and returns the text of what it throws. Stopped is passed on, and so is the loss of the
/// Vulkan device, after which nothing can run. A loss under CUDA is returned, because CUDA loses only its own
/// context.
std::string failure_of(bool& wrong, const std::function<void()>& body,
                       ReportPath path = ReportPath::ordinary);

// A device that was idle while the CPU worked needs some milliseconds to reach its full clock rate.
inline constexpr double kAwake = 10e-3;

/// Calls `work` until that many seconds have passed, at least one time.
template <class Work>
void keep_busy(double seconds, Work&& work) {
    const double begin = seconds_now();
    do work();
    while (seconds_now() - begin < seconds);
}

/// Bytes of memory that are free for use; 0: the system does not report it.
double free_host_bytes();

class SizeRun {
  public:
    /// `index`: of this size among all sizes; `forecast` has the smaller ones. All arguments are kept by
    /// reference.
    SizeRun(const ReportTargets& targets, const ReportKernel& kernel, const RunSettings& settings,
            const Forecast& forecast, std::size_t index);
    /// Errors: Stopped - sizes() has what was measured before the stop.
    void measure_all();
    /// The stages of a call between ordinary arrays; empty if that path does not run. Errors: Stopped.
    std::vector<StageSplit> split();

    const std::vector<SizeResult>& sizes() const { return sizes_; }
    bool wrong() const { return wrong_; }

  private:
    void make_work();
    std::string too_long(std::size_t process, ReportPath path) const;
    double share() const;
    void add(std::size_t process, PathResult result);
    void fail(std::size_t process, ReportPath path, const std::string& why);
    TimedWork stoppable(TimedWork work) const;
    void measure_cpu(std::size_t process);
    void extrapolate_cpu(std::size_t process);
    unsigned faster_threads(const TimedWork& run);
    void measure_path(ReportPath path);
    void measure_device(std::size_t process, PathResult& result);
    TimedWork replays(Stream& stream, const std::function<void(Stream&)>& record) const;
    Repeats repeats() const;

    const ReportTargets& targets_;
    const ReportKernel& kernel_;
    const RunSettings& settings_;
    const Forecast& forecast_;
    std::size_t index_;
    std::uint64_t batch_;
    bool wrong_ = false;
    std::unique_ptr<ReportWork> work_;
    std::vector<SizeResult> sizes_;
    std::vector<std::uint64_t> verified_items_;  // of each process; 0: all
};

}  // namespace weft::tool
