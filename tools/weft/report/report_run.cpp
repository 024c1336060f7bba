// SPDX-License-Identifier: Apache-2.0
#include "report/report_run.hpp"

#include <algorithm>
#include <cmath>

#include "report/report_size.hpp"

namespace weft::tool {
namespace {

constexpr double kProbeTells = 10e-3;  // of work, where less may be what a call costs

/// Whether bytes go in and out in the proportion of another size, as copies both ways at once are measured.
bool same_proportion(const SizeResult& a, const SizeResult& b) {
    const double one = static_cast<double>(a.bytes_in) * static_cast<double>(b.bytes_out),
                 other = static_cast<double>(b.bytes_in) * static_cast<double>(a.bytes_out);
    return std::abs(one - other) <= 0.02 * std::max(one, other);
}

/// Of arrays that no cache holds, where the device has the room.
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

void measure_ceilings(Backend& backend, ProcessResult& process, const SizeResult& size) {
    constexpr double kWindow = 0.02;
    const tune::CopyCeiling copy =
        tune::measure_copy_ceiling(backend, size.bytes_in, size.bytes_out, kWindow);
    process.upload_gb_per_s = copy.upload_gb_per_s;
    process.download_gb_per_s = copy.download_gb_per_s;
    process.concurrent_gb_per_s = copy.concurrent_gb_per_s;
    if (process.memory_gb_per_s == 0) process.memory_gb_per_s = memory_ceiling(backend);
}

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

/// Runs processes of the CPU at a size for the forecast alone: no table has these times.
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

/// So that a CPU that is too slow for `batch` is noticed beforehand, where no smaller size tells or all are
/// far smaller.
void probe_cpu(const ReportKernel& kernel, const RunSettings& settings, std::uint64_t batch,
               Forecast& forecast) {
    constexpr std::uint64_t kStep = 16;
    for (std::uint64_t size = 1; size <= batch / kStep; size *= kStep) {
        std::vector<std::size_t> open;
        for (std::size_t p = 0; p < kernel.processes().size(); ++p) {
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

/// Takes over what was measured at a size, with ceilings beside it.
class Collector {
  public:
    Collector(const ReportTargets& targets, const RunSettings& settings, KernelResult& result)
        : targets_(targets), settings_(settings), result_(result), measured_(result.processes.size()) {}
    void take(const SizeRun& run, Forecast& forecast, bool stopped) {
        for (SizeResult size : run.sizes()) {
            const bool any_device = std::any_of(
                size.paths.begin(), size.paths.end(),
                [](const PathResult& path) { return path.path != ReportPath::cpu && path.ran(); });
            if (stopped && !any_device) continue;  // nothing to compare
            if (!stopped) measure_ceilings_for(size);
            apply_ceilings(result_.processes[size.process], size);
            forecast.learn(size);
            if (settings_.on_size) settings_.on_size(size);
            result_.sizes.push_back(std::move(size));
        }
        result_.any_wrong = result_.any_wrong || run.wrong();
    }

  private:
    void measure_ceilings_for(const SizeResult& size) {
        ProcessResult& process = result_.processes[size.process];
        SizeResult& known = measured_[size.process];
        if (targets_.backend == nullptr || size.bytes_in == 0) return;
        if (process.memory_gb_per_s != 0 && same_proportion(known, size)) return;
        bool ignored = false;
        failure_of(ignored, [&] { measure_ceilings(*targets_.backend, process, size); });
        known = size;
    }

    const ReportTargets& targets_;
    const RunSettings& settings_;
    KernelResult& result_;
    std::vector<SizeResult> measured_;  // sizes that the ceilings were measured for
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
