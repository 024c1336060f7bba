// SPDX-License-Identifier: Apache-2.0
#include "measure/report_size.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <new>
#include <optional>

#include "cli/figures.hpp"

namespace weft::tool {
namespace {

// A sample must be much longer than what the clock resolves, some tens of nanoseconds, and than a submission
// and its wait, some tens of microseconds.
constexpr double kLeastCpuSample = 50e-6, kLeastResidentSample = 1e-3;
constexpr std::size_t kMostCpuCalls = 1000, kMostDispatches = 16;

double read_number(const char* path) {
    double value = 0;
    std::ifstream(path) >> value;  // stays 0 if the file says "max"
    return value;
}

/// `wall_s`: from the beginning of the first call to the end of the last one.
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

}  // namespace

std::string failure_of(bool& wrong, const std::function<void()>& body, ReportPath path) {
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

SizeRun::SizeRun(const ReportTargets& targets, const ReportKernel& kernel, const RunSettings& settings,
                 const Forecast& forecast, std::size_t index)
    : targets_(targets),
      kernel_(kernel),
      settings_(settings),
      forecast_(forecast),
      index_(index),
      batch_(settings.batch_sizes[index]),
      sizes_(kernel.processes().size()),
      verified_items_(sizes_.size(), 0) {
    for (std::size_t p = 0; p < sizes_.size(); ++p) {
        sizes_[p].process = p;
        sizes_[p].batch = batch_;
        sizes_[p].items = kernel.items(p, batch_);
    }
    make_work();
}

void SizeRun::make_work() {
    std::vector<std::string> failures(sizes_.size());
    bool any = false;
    for (std::size_t p = 0; p < sizes_.size(); ++p)
        for (const ReportPath path : settings_.paths) {
            failures[p] = too_long(p, path);
            any = any || failures[p].empty();
            if (failures[p].empty()) break;
        }
    if (any) {
        const double needed = kernel_.host_bytes(batch_), there = free_host_bytes();
        std::string failure;
        if (there != 0 && needed > 0.8 * there)
            failure =
                "does not fit host memory (needs " + si(needed, "B") + ", " + si(there, "B") + " are free)";
        else
            failure = failure_of(wrong_, [&] { work_ = kernel_.make(targets_, batch_, settings_.threads); });
        std::fill(failures.begin(), failures.end(), failure);
    }
    for (SizeResult& size : sizes_) {
        if (!work_)
            for (const ReportPath path : settings_.paths) fail(size.process, path, failures[size.process]);
        if (!work_) continue;
        size.bytes_in = work_->bytes_in(size.process);
        size.bytes_out = work_->bytes_out(size.process);
        size.bytes_resident = work_->bytes_resident(size.process);
        size.compression = kernel_.compression(size.process, size.bytes_in, size.bytes_out);
    }
}

double SizeRun::share() const {
    return settings_.clock == nullptr ? 1e9 : settings_.clock->share(weight_of_size(index_));
}

std::string SizeRun::too_long(std::size_t process, ReportPath path) const {
    const double total = settings_.clock == nullptr ? 0 : settings_.clock->total_s();
    return forecast_.too_long(process, path, batch_, kernel_.growth(process),
                              run_limit(settings_.repeats.max_seconds, share(), total));
}

Repeats SizeRun::repeats() const {
    Repeats repeats = settings_.repeats;
    repeats.max_seconds = std::min(repeats.max_seconds, share());
    return repeats;
}

void SizeRun::add(std::size_t process, PathResult result) {
    sizes_[process].paths.push_back(std::move(result));
    if (settings_.clock != nullptr) settings_.clock->pass(weight_of_size(index_));
    if (settings_.on_figure) settings_.on_figure();
}

void SizeRun::fail(std::size_t process, ReportPath path, const std::string& why) {
    PathResult result;
    result.path = path;
    result.failure = why;
    add(process, std::move(result));
}

TimedWork SizeRun::stoppable(TimedWork work) const {
    return [this, work = std::move(work)](std::size_t calls) {
        if (settings_.stop && settings_.stop()) throw Stopped{};
        work(calls);
    };
}

void SizeRun::measure_all() {
    if (!work_) return;
    try {
        for (std::size_t p = 0; p < sizes_.size(); ++p) measure_cpu(p);
        for (const ReportPath path : settings_.paths)
            if (path != ReportPath::cpu) measure_path(path);
    } catch (const Stopped&) {
        for (SizeResult& size : sizes_) size.compare();
        throw;
    }
    for (SizeResult& size : sizes_) size.compare();
}

void SizeRun::measure_cpu(std::size_t process) {
    if (!too_long(process, ReportPath::cpu).empty()) return extrapolate_cpu(process);
    PathResult result;
    result.failure = failure_of(wrong_, [&] {
        const TimedWork run = stoppable([&](std::size_t calls) {
            for (std::size_t i = 0; i < calls; ++i) work_->run_cpu(process);
        });
        result.threads = faster_threads(run);
        work_->use_threads(result.threads);
        result.timing = measure(repeats(), kLeastCpuSample, kMostCpuCalls, run);
    });
    work_->use_threads(settings_.threads);
    add(process, std::move(result));
}

/// The CPU computes only the items that are compared with the device's results.
void SizeRun::extrapolate_cpu(std::size_t process) {
    PathResult result = forecast_.cpu_at(process, batch_, kernel_.growth(process));
    const std::vector<std::uint64_t> items = sampled_items(batch_, kernel_.sample_size());
    result.failure =
        failure_of(wrong_, [&] { stoppable([&](std::size_t) { work_->run_cpu_of(process, items); })(1); });
    verified_items_[process] = items.size();
    add(process, std::move(result));
}

/// One thread, or all threads if warm-up runs of this size show that they are faster.
unsigned SizeRun::faster_threads(const TimedWork& run) {
    constexpr double kThreadsPay = 20e-3;  // above it, the cost of waking threads is negligible
    constexpr double kGain = 0.95;         // a smaller gain may be chance
    if (settings_.threads == 1) return 1;
    const double begin = seconds_now();
    run(1);
    if (seconds_now() - begin > kThreadsPay) return settings_.threads;
    const Repeats few{5, 2, kThreadsPay};
    const auto seconds_with = [&](unsigned threads) {
        work_->use_threads(threads);
        return measure(few, kLeastCpuSample, kMostCpuCalls, run).seconds.median;
    };
    const double all = seconds_with(settings_.threads);
    return all < kGain * seconds_with(1) ? settings_.threads : 1;
}

void SizeRun::measure_path(ReportPath path) {
    const std::string failure = failure_of(
        wrong_, [&] { work_->prepare(path); }, path);
    for (std::size_t p = 0; p < sizes_.size(); ++p) {
        const std::string why = !failure.empty() ? failure
                                : sizes_[p].of(ReportPath::cpu) == nullptr
                                    ? "no result of the CPU to compare with"
                                    : too_long(p, path);
        if (!why.empty()) {
            fail(p, path, why);
            continue;
        }
        PathResult result;
        result.path = path;
        result.failure = failure_of(
            wrong_, [&] { measure_device(p, result); }, path);
        add(p, std::move(result));
    }
    work_->release();
}

/// Records as many calls of `record` as requested, each number of calls only once, and replays them.
TimedWork SizeRun::replays(Stream& stream, const std::function<void(Stream&)>& record) const {
    return stoppable(
        [&stream, record, recorded = std::map<std::size_t, Sequence>()](std::size_t calls) mutable {
            if (!recorded.contains(calls))
                recorded[calls] = stream.record([&](Stream& steps) {
                    for (std::size_t i = 0; i < calls; ++i) record(steps);
                });
            stream.replay(recorded[calls]);
            stream.wait();
        });
}

void SizeRun::measure_device(std::size_t process, PathResult& result) {
    const bool resident = result.path == ReportPath::resident;
    std::optional<Stream> stream;
    if (resident) stream.emplace(*targets_.backend, StreamOptions{.name = "report"});
    Stream* const downloads = resident ? &*stream : nullptr;
    const TimedWork run = resident ? replays(*stream, [&](Stream& steps) { work_->record(process, steps); })
                                   : stoppable([&](std::size_t) { work_->run(process); });
    run(1);
    work_->verify(process, downloads);
    keep_busy(kAwake, [&] { run(1); });
    if (const double products = resident ? work_->products(process) : 0; products > 0)
        result.arithmetic_s =
            products * measure(repeats(), kLeastResidentSample, kMostDispatches,
                               replays(*stream, [&](Stream& steps) { work_->record_products(steps); }))
                           .seconds.median;
    result.timing = resident ? measure(repeats(), kLeastResidentSample, kMostDispatches, run)
                             : measure(repeats(), 0, 1, run);
    work_->verify(process, downloads);
    result.verified = true;
    result.verified_items = verified_items_[process];
}

std::vector<StageSplit> SizeRun::split() {
    std::vector<StageSplit> splits;
    if (!work_ || targets_.backend == nullptr) return splits;
    constexpr std::size_t kCalls = 3;
    const std::string failure = failure_of(wrong_, [&] {
        work_->prepare(ReportPath::ordinary);
        for (const SizeResult& size : sizes_) {
            if (size.of(ReportPath::ordinary) == nullptr) continue;
            const TimedWork run = stoppable([&](std::size_t) { work_->run(size.process); });
            run(1);
            const Profile profile(*targets_.backend);
            const double begin = seconds_now();
            for (std::size_t i = 0; i < kCalls; ++i) run(1);
            splits.push_back(split_of(size, profile.report(), kCalls, seconds_now() - begin));
        }
    });
    work_->release();
    return failure.empty() ? splits : std::vector<StageSplit>{};
}

}  // namespace weft::tool
