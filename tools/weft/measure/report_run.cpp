// SPDX-License-Identifier: Apache-2.0
#include "measure/report_run.hpp"

#include <algorithm>
#include <cmath>

#include "measure/report_size.hpp"

namespace weft::tool {
namespace {

constexpr double kProbeTells = 10e-3;  // seconds; a shorter run may be only the fixed cost of a call

/// Measured with arrays that no cache can hold, if the device has the memory.
double memory_ceiling(Backend& backend) {
    constexpr std::uint64_t kLeast = std::uint64_t{96} << 20, kMost = std::uint64_t{768} << 20;
    const DeviceInfo& device = backend.device();
    tune::MemoryCeiling memory(backend, std::min(std::clamp(device.device_memory_bytes / 64, kLeast, kMost),
                                                 3 * device.limits.max_storage_buffer_range / 48 * 48));
    keep_busy(kAwake, [&] { memory.gb_per_s(); });
    std::vector<double> rates;
    keep_busy(2 * kAwake, [&] { rates.push_back(memory.gb_per_s()); });
    return statistics(std::move(rates)).median;
}

/// Ceilings of one kernel. Each proportion of bytes in and out is measured once, and so is memory.
class Ceilings {
  public:
    void fill_in(Backend& backend, ProcessResult& process, const SizeResult& size) {
        const tune::CopyCeiling& copy = of(backend, size.bytes_in, size.bytes_out);
        process.upload_gb_per_s = copy.upload_gb_per_s;
        process.download_gb_per_s = copy.download_gb_per_s;
        process.concurrent_gb_per_s = copy.concurrent_gb_per_s;
        if (memory_gb_per_s_ == 0) memory_gb_per_s_ = memory_ceiling(backend);
        process.memory_gb_per_s = memory_gb_per_s_;
    }

  private:
    struct Known {
        std::uint64_t in = 0, out = 0;
        tune::CopyCeiling copy;
        bool alike(std::uint64_t other_in, std::uint64_t other_out) const {
            const auto share = [](std::uint64_t a, std::uint64_t b) {
                return static_cast<double>(a) / (static_cast<double>(a) + static_cast<double>(b));
            };
            return (in == 0) == (other_in == 0) && (out == 0) == (other_out == 0) &&
                   std::abs(share(in, out) - share(other_in, other_out)) <= 0.02;
        }
    };
    const tune::CopyCeiling& of(Backend& backend, std::uint64_t in, std::uint64_t out) {
        constexpr double kWindow = 0.01;
        const auto found =
            std::find_if(known_.begin(), known_.end(), [&](const Known& k) { return k.alike(in, out); });
        if (found != known_.end()) return found->copy;
        known_.push_back({in, out, tune::measure_copy_ceiling(backend, in, out, kWindow)});
        return known_.back().copy;
    }

    std::vector<Known> known_;
    double memory_gb_per_s_ = 0;
};

double over(double bytes, double gb_per_s) {
    return gb_per_s > 0 ? bytes / gb_per_s / 1e9 : 0;
}

void apply_ceilings(const ProcessResult& process, SizeResult& size) {
    const auto in = static_cast<double>(size.bytes_in), out = static_cast<double>(size.bytes_out);
    for (PathResult& path : size.paths) {
        if (path.path == ReportPath::resident)
            path.ceiling_s = over(static_cast<double>(size.bytes_resident), process.memory_gb_per_s);
        if (path.path != ReportPath::cpu && path.path != ReportPath::resident)
            path.ceiling_s =
                std::max({over(in, process.upload_gb_per_s), over(out, process.download_gb_per_s),
                          over(in + out, process.concurrent_gb_per_s)});
    }
}

/// Runs processes of the CPU at a size for the forecast alone; no table shows these times.
void probe_cpu_at(const ReportKernel& kernel, const RunSettings& settings, std::uint64_t size,
                  const std::vector<std::size_t>& processes, Forecast& forecast) {
    const auto work = kernel.make({}, size, settings.threads);
    for (const std::size_t p : processes) {
        std::vector<double> seconds;
        for (int run = 0; run < 3 && (run == 0 || seconds.back() < kProbeTells); ++run) {
            if (settings.stop && settings.stop()) throw Stopped{};
            const double begin = seconds_now();
            work->run_cpu(p);
            seconds.push_back(seconds_now() - begin);
        }
        forecast.learn(p, ReportPath::cpu, size, statistics(std::move(seconds)));
    }
}

/// Detects in advance that the CPU is too slow for `batch`, if there are no smaller sizes or all of them are
/// much smaller.
void probe_cpu(const ReportKernel& kernel, const RunSettings& settings, std::uint64_t batch,
               Forecast& forecast) {
    const std::size_t processes = kernel.processes().size();
    constexpr std::uint64_t kStep = 4;
    for (std::uint64_t size = 1; size <= batch / kStep; size *= kStep) {
        std::vector<std::size_t> open;
        for (std::size_t p = 0; p < processes; ++p) {
            const KnownTime known = forecast.cpu_known(p);
            if (known.batch < size && known.seconds < kProbeTells) open.push_back(p);
        }
        const double there = free_host_bytes();
        if (open.empty() || (there != 0 && kernel.host_bytes(size) > 0.2 * there)) continue;
        bool ignored = false;
        failure_of(ignored, [&] { probe_cpu_at(kernel, settings, size, open, forecast); });
    }
}

KernelResult begin_result(const ReportKernel& kernel) {
    KernelResult result;
    result.kernel = kernel.name();
    result.unit = kernel.unit();
    result.configuration = kernel.configuration();
    for (const std::string& name : kernel.processes()) {
        ProcessResult process;
        process.name = name;
        process.rate_unit = kernel.rate_unit(result.processes.size());
        result.processes.push_back(std::move(process));
    }
    return result;
}

/// Stores the results of a size, with their ceilings.
class Collector {
  public:
    Collector(const ReportTargets& targets, const RunSettings& settings, KernelResult& result)
        : targets_(targets), settings_(settings), result_(result) {}
    void take(const SizeRun& run, Forecast& forecast, bool stopped) {
        for (SizeResult size : run.sizes()) {
            const bool any_device = std::any_of(
                size.paths.begin(), size.paths.end(),
                [](const PathResult& path) { return path.path != ReportPath::cpu && path.ran(); });
            if (stopped && !any_device) continue;  // nothing to compare
            if (any_device && !stopped && targets_.backend != nullptr) measure_ceilings(size);
            apply_ceilings(result_.processes[size.process], size);
            forecast.learn(size);
            if (settings_.on_size) settings_.on_size(size);
            result_.sizes.push_back(std::move(size));
        }
        result_.any_wrong = result_.any_wrong || run.wrong();
    }

  private:
    void measure_ceilings(const SizeResult& size) {
        bool ignored = false;
        failure_of(ignored,
                   [&] { ceilings_.fill_in(*targets_.backend, result_.processes[size.process], size); });
    }

    const ReportTargets& targets_;
    const RunSettings& settings_;
    KernelResult& result_;
    Ceilings ceilings_;
};

}  // namespace

double ReportClock::elapsed_s() const {
    return seconds_now() - begin_s_;
}

double weight_of(const ReportKernel& kernel, const RunSettings& settings) {
    double weight = 0;
    for (std::size_t i = 0; i < settings.batch_sizes.size(); ++i) weight += weight_of_size(i);
    return weight * static_cast<double>(kernel.processes().size() * settings.paths.size());
}

KernelResult run_kernel(const ReportTargets& targets, const ReportKernel& kernel,
                        const RunSettings& settings) {
    KernelResult result = begin_result(kernel);
    Forecast forecast;
    Collector collector(targets, settings, result);
    try {
        for (std::size_t i = 0; i < settings.batch_sizes.size(); ++i) {
            probe_cpu(kernel, settings, settings.batch_sizes[i], forecast);
            SizeRun run(targets, kernel, settings, forecast, i);
            try {
                run.measure_all();
            } catch (const Stopped&) {
                collector.take(run, forecast, true);
                throw;
            }
            collector.take(run, forecast, false);
            if (std::vector<StageSplit> splits = run.split(); !splits.empty())
                result.splits = std::move(splits);
        }
    } catch (const Stopped&) {
        result.stopped = true;
    }
    return result;
}

}  // namespace weft::tool
