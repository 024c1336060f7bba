// SPDX-License-Identifier: Apache-2.0
#include "report/report_run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <map>
#include <new>
#include <optional>

#include "cli/figures.hpp"

namespace weft::tool {
namespace {

// The clock resolves some tens of nanoseconds; a submission and its wait take some tens of microseconds.
constexpr double kLeastCpuSample = 50e-6, kLeastResidentSample = 1e-3;
constexpr std::size_t kMostCpuCalls = 1000, kMostDispatches = 16;

double read_number(const char* path) {
    double value = 0;
    std::ifstream(path) >> value;  // stays 0 at "max"
    return value;
}

// A device that slept while the CPU worked takes some milliseconds to come to its pace.
constexpr double kAwake = 10e-3;

/// Calls `work` until so many seconds have passed, once at the least.
template <class Work>
void keep_busy(double seconds, Work&& work) {
    const auto begin = std::chrono::steady_clock::now();
    do work();
    while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < seconds);
}

/// Calls `body`; what it throws becomes a text, but for the loss of the device, after which nothing can run:
/// of Vulkan, that is. What CUDA loses is its own context.
template <class Body>
std::string failure_of(bool& wrong, Body&& body, ReportPath path = ReportPath::ordinary) {
    try {
        body();
        return {};
    } catch (const WrongResult& error) {
        wrong = true;
        return std::string("wrong result: ") + error.what();
    } catch (const Error& error) {
        if (error.code() == Errc::device_lost && path != ReportPath::cuda) throw;
        return error.what();
    } catch (const std::bad_alloc&) {
        return "out of host memory";
    } catch (const std::exception& error) {
        return error.what();
    }
}

/// Why a path is left out at this size; empty: it is not.
using TooLong = std::function<std::string(std::size_t process, ReportPath path)>;

/// Takes what smaller sizes took as a forecast for larger ones.
class Forecast {
  public:
    Forecast(double growth, double max_seconds) : growth_(growth), most_(kPatience * max_seconds) {}
    void learn(const SizeResult& size) {
        for (const PathResult& path : size.paths)
            // The least: a machine busy with other things must not make larger sizes look hopeless.
            if (path.ran()) known_[{size.process, path.path}] = {size.batch, path.timing.seconds.min};
    }
    std::string too_long(std::size_t process, ReportPath path, std::uint64_t batch) const {
        const auto it = known_.find({process, path});
        if (it == known_.end() || it->second.seconds < kLeastKnown) return {};
        const double times = static_cast<double>(batch) / static_cast<double>(it->second.batch);
        const double seconds = it->second.seconds * std::pow(times, growth_);
        if (seconds <= most_) return {};
        return "left out: one run would take about " + duration(seconds) + " (--max-seconds " +
               three_digits(most_ / kPatience) + " allows " + duration(most_) + ")";
    }

  private:
    static constexpr double kPatience = 4;       // a run may take this many times the time of a figure
    static constexpr double kLeastKnown = 1e-3;  // below it a call costs more than its work
    struct Known {
        std::uint64_t batch = 0;
        double seconds = 0;
    };
    double growth_, most_;
    std::map<std::pair<std::size_t, ReportPath>, Known> known_;
};

/// One kernel at one size.
class SizeRun {
  public:
    SizeRun(const ReportTargets& targets, const ReportKernel& kernel, const RunSettings& settings,
            std::uint64_t batch, const TooLong& too_long)
        : targets_(targets), settings_(settings), too_long_(too_long), processes_(kernel.processes().size()) {
        sizes_.resize(processes_);
        for (std::size_t p = 0; p < processes_; ++p) {
            sizes_[p].process = p;
            sizes_[p].batch = batch;
            sizes_[p].items = kernel.items(batch);
        }
        const double needed = kernel.host_bytes(batch), there = free_host_bytes();
        std::vector<std::string> why;
        for (std::size_t p = 0; p < processes_; ++p) why.push_back(too_long(p, ReportPath::cpu));
        if (std::none_of(why.begin(), why.end(), [](const std::string& w) { return w.empty(); })) {
            // Nothing could be compared with: not worth the memory.
            for (std::size_t p = 0; p < processes_; ++p) fail_all(sizes_[p], why[p]);
            return;
        }
        std::string failure;
        if (there != 0 && needed > 0.8 * there)
            failure =
                "does not fit host memory (needs " + si(needed, "B") + ", " + si(there, "B") + " are free)";
        else
            failure = failure_of(wrong_, [&] { work_ = kernel.make(targets, batch, settings.threads); });
        for (SizeResult& size : sizes_) {
            if (work_) size.bytes_in = work_->bytes_in(size.process);
            if (work_) size.bytes_out = work_->bytes_out(size.process);
            if (work_) size.bytes_resident = work_->bytes_resident(size.process);
            if (work_) size.compression = kernel.compression(size.process, size.bytes_in, size.bytes_out);
            if (!work_) fail_all(size, failure);
        }
    }
    void measure_all() {
        if (!work_) return;
        for (std::size_t p = 0; p < processes_; ++p) measure_cpu(p);
        for (const ReportPath path : settings_.paths)
            if (path != ReportPath::cpu) measure_path(path);
        for (SizeResult& size : sizes_) size.compare();
    }
    /// Where the time of a call between ordinary arrays goes; empty where it does not run.
    std::vector<StageSplit> split();

    const std::vector<SizeResult>& sizes() const { return sizes_; }
    bool wrong() const { return wrong_; }

  private:
    static void fail(SizeResult& size, ReportPath path, const std::string& why) {
        PathResult result;
        result.path = path;
        result.failure = why;
        size.paths.push_back(std::move(result));
    }
    void fail_all(SizeResult& size, const std::string& why) const {
        for (const ReportPath path : settings_.paths) fail(size, path, why);
    }
    void measure_cpu(std::size_t process) {
        if (const std::string why = too_long_(process, ReportPath::cpu); !why.empty())
            return fail(sizes_[process], ReportPath::cpu, why);
        PathResult result;
        result.failure = failure_of(wrong_, [&] {
            const TimedWork run = [&](std::size_t calls) {
                for (std::size_t i = 0; i < calls; ++i) work_->run_cpu(process);
            };
            result.threads = faster_threads(run);
            work_->use_threads(result.threads);
            result.timing = measure(settings_.repeats, kLeastCpuSample, kMostCpuCalls, run);
        });
        work_->use_threads(settings_.threads);
        sizes_[process].paths.push_back(std::move(result));
    }
    /// One thread, or all where they are faster, as warm-up runs of this size tell.
    unsigned faster_threads(const TimedWork& run) {
        constexpr double kThreadsPay = 20e-3;  // where waking them costs nothing to speak of
        constexpr double kGain = 0.95;         // less may be chance
        if (settings_.threads == 1) return 1;
        const Repeats few{5, 2, kThreadsPay};
        const auto seconds_with = [&](unsigned threads) {
            work_->use_threads(threads);
            return measure(few, kLeastCpuSample, kMostCpuCalls, run).seconds.median;
        };
        const double all = seconds_with(settings_.threads);
        if (all > kThreadsPay) return settings_.threads;
        return all < kGain * seconds_with(1) ? settings_.threads : 1;
    }
    void measure_path(ReportPath path) {
        const std::string failure = failure_of(
            wrong_, [&] { work_->prepare(path); }, path);
        for (std::size_t p = 0; p < processes_; ++p) {
            const std::string why = !failure.empty() ? failure
                                    : sizes_[p].of(ReportPath::cpu) == nullptr
                                        ? "no result of the CPU to compare with"
                                        : too_long_(p, path);
            if (!why.empty()) {
                fail(sizes_[p], path, why);
                continue;
            }
            PathResult result;
            result.path = path;
            result.failure = failure_of(
                wrong_, [&] { measure_device(p, result); }, path);
            sizes_[p].paths.push_back(std::move(result));
        }
        work_->release();
    }
    void measure_device(std::size_t process, PathResult& result) {
        // The CPU's results of this process, where others wrote to the same arrays.
        work_->run_cpu(process);
        const bool resident = result.path == ReportPath::resident;
        std::optional<Stream> stream;
        if (resident) stream.emplace(*targets_.backend, StreamOptions{.name = "report"});
        Stream* const downloads = resident ? &*stream : nullptr;
        const auto replays = [&](const std::function<void(Stream&)>& record) -> TimedWork {
            return
                [&stream, record, recorded = std::map<std::size_t, Sequence>()](std::size_t calls) mutable {
                    if (!recorded.contains(calls))
                        recorded[calls] = stream->record([&](Stream& steps) {
                            for (std::size_t i = 0; i < calls; ++i) record(steps);
                        });
                    stream->replay(recorded[calls]);
                    stream->wait();
                };
        };
        const TimedWork run = resident ? replays([&](Stream& steps) { work_->record(process, steps); })
                                       : [&](std::size_t) { work_->run(process); };
        run(1);
        work_->verify(process, downloads);
        keep_busy(kAwake, [&] { run(1); });
        if (const double products = resident ? work_->products(process) : 0; products > 0)
            result.arithmetic_s =
                products * measure(settings_.repeats, kLeastResidentSample, kMostDispatches,
                                   replays([&](Stream& steps) { work_->record_products(steps); }))
                               .seconds.median;
        result.timing = resident ? measure(settings_.repeats, kLeastResidentSample, kMostDispatches, run)
                                 : measure(settings_.repeats, 0, 1, run);
        work_->verify(process, downloads);
        result.verified = true;
    }

    ReportTargets targets_;
    const RunSettings& settings_;
    const TooLong& too_long_;
    std::size_t processes_;
    bool wrong_ = false;
    std::unique_ptr<ReportWork> work_;
    std::vector<SizeResult> sizes_;
};

/// `wall_s`: of all calls together, from the first's begin to the last's end.
StageSplit split_of(const SizeResult& size, const ProfileReport& profile, std::size_t calls, double wall_s) {
    const auto each = static_cast<double>(calls);
    StageSplit split{size.process,
                     size.batch,
                     calls,
                     wall_s / each,
                     size.of(ReportPath::ordinary)->timing.seconds.median,
                     profile.overlap,
                     std::max(0.0, 1 - profile.busy_s / wall_s),
                     {}};
    for (const StageReport& stage : profile.stages) {
        if (stage.times.count != 0)
            split.stages.push_back({to_string(stage.stage), stage.times.busy_s / each});
        if (stage.times.untimed != 0) split.idle.reset();
    }
    return split;
}

std::vector<StageSplit> SizeRun::split() {
    std::vector<StageSplit> splits;
    if (!work_ || targets_.backend == nullptr) return splits;
    constexpr std::size_t kCalls = 3;
    const std::string failure = failure_of(wrong_, [&] {
        work_->prepare(ReportPath::ordinary);
        for (const SizeResult& size : sizes_) {
            if (size.of(ReportPath::ordinary) == nullptr) continue;
            work_->run_cpu(size.process);
            work_->run(size.process);
            const Profile profile(*targets_.backend);
            const auto begin = std::chrono::steady_clock::now();
            for (std::size_t i = 0; i < kCalls; ++i) work_->run(size.process);
            const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
            splits.push_back(split_of(size, profile.report(), kCalls, wall.count()));
        }
    });
    work_->release();
    return failure.empty() ? splits : std::vector<StageSplit>{};
}

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

}  // namespace

double free_host_bytes() {
    double available = 0;
    std::ifstream file("/proc/meminfo");
    for (std::string name, unit; file >> name >> available;) {
        if (name == "MemAvailable:") break;
        std::getline(file, unit);
        available = 0;
    }
    available *= 1024;
    const double limit = read_number("/sys/fs/cgroup/memory.max");
    if (limit == 0) return available;
    const double left = std::max(limit - read_number("/sys/fs/cgroup/memory.current"), 1.0);
    return available == 0 ? left : std::min(available, left);
}

KernelResult run_kernel(const ReportTargets& targets, const ReportKernel& kernel,
                        const RunSettings& settings) {
    KernelResult result;
    result.kernel = kernel.name();
    result.unit = kernel.unit();
    result.rate_unit = kernel.rate_unit();
    result.configuration = kernel.configuration();
    for (const std::string& name : kernel.processes()) {
        result.processes.push_back({});
        result.processes.back().name = name;
    }
    std::vector<SizeResult> measured(result.processes.size());  // sizes that the ceilings were measured for
    Forecast forecast(kernel.growth(), settings.repeats.max_seconds);
    for (const std::uint64_t batch : settings.batch_sizes) {
        const TooLong too_long = [&](std::size_t process, ReportPath path) {
            return forecast.too_long(process, path, batch);
        };
        SizeRun run(targets, kernel, settings, batch, too_long);
        run.measure_all();
        if (std::vector<StageSplit> splits = run.split(); !splits.empty()) result.splits = std::move(splits);
        for (SizeResult size : run.sizes()) {
            ProcessResult& process = result.processes[size.process];
            SizeResult& known = measured[size.process];
            bool ignored = false;
            if (targets.backend != nullptr && size.bytes_in != 0 &&
                (process.memory_gb_per_s == 0 || !same_proportion(known, size))) {
                failure_of(ignored, [&] { measure_ceilings(*targets.backend, process, size); });
                known = size;
            }
            apply_ceilings(process, size);
            forecast.learn(size);
            if (settings.on_size) settings.on_size(size);
            result.sizes.push_back(std::move(size));
        }
        result.any_wrong = result.any_wrong || run.wrong();
    }
    return result;
}

}  // namespace weft::tool
