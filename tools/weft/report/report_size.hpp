// SPDX-License-Identifier: Apache-2.0
// One kernel at one size, for run_kernel(): every process on every path, and where the time of a call goes.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "report/report_run.hpp"

namespace weft::tool {

/// The settings' stop was asked for. Not a std::exception, so that no path takes it for its failure.
struct Stopped {};

/// Calls `body`; what it throws becomes a text, but for Stopped and for the loss of the device, after which
/// nothing can run: of Vulkan, that is. What CUDA loses is its own context.
std::string failure_of(bool& wrong, const std::function<void()>& body,
                       ReportPath path = ReportPath::ordinary);

// A device that slept while the CPU worked takes some milliseconds to come to its pace.
inline constexpr double kAwake = 10e-3;

/// Calls `work` until so many seconds have passed, once at the least.
template <class Work>
void keep_busy(double seconds, Work&& work) {
    const double begin = seconds_now();
    do work();
    while (seconds_now() - begin < seconds);
}

/// Bytes of memory that could be taken without harm to others; 0: the system does not tell.
double free_host_bytes();

class SizeRun {
  public:
    /// `index`: of the size among all; `forecast` knows the smaller ones. All are kept by reference.
    SizeRun(const ReportTargets& targets, const ReportKernel& kernel, const RunSettings& settings,
            const Forecast& forecast, std::size_t index);
    /// Errors: Stopped - sizes() has what was measured before.
    void measure_all();
    /// Where the time of a call between ordinary arrays goes; empty where it does not run. Errors: Stopped.
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
