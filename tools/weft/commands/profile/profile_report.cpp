// SPDX-License-Identifier: Apache-2.0
#include "commands/profile/profile_report.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>

#include <weft/version.hpp>

#include "cli/figures.hpp"
#include "cli/progress.hpp"
#include "cpu/cpu_threads.hpp"
#include "device/cuda_calls.hpp"
#include "measure/interrupt.hpp"
#include "measure/report_run.hpp"
#include "report/report_findings.hpp"
#include "report/report_writer.hpp"

namespace weft::tool {
namespace {

void print(const KernelResult& kernel, const std::string& process, const SizeResult& size) {
    const std::string label = kernel.kernel + " " + process;
    if (const std::string failure = size.common_failure(); !failure.empty()) {
        std::printf("%-18s %13s  did not run: %s\n", label.c_str(), grouped(size.batch).c_str(),
                    failure.c_str());
        return;
    }
    for (const PathResult& path : size.paths) {
        std::printf("%-18s %13s  %-11s ", label.c_str(), grouped(size.batch).c_str(), to_string(path.path));
        if (!path.ran()) {
            std::printf("did not run: %s\n", path.failure.c_str());
            continue;
        }
        const std::string time = duration(path.timing.seconds.median), rate = si(size.per_s(path));
        if (path.extrapolated()) {
            std::printf("%9s    %-9s %8s/s  extrapolated from smaller sizes\n", ("~" + time).c_str(), "",
                        ("~" + rate).c_str());
            continue;
        }
        std::printf("%9s +- %-9s %8s/s", time.c_str(), duration(path.timing.seconds.std).c_str(),
                    rate.c_str());
        if (path.path != ReportPath::cpu && path.speedup > 0) std::printf(" %8s", speedup_text(path).c_str());
        if (path.over_vulkan > 0) std::printf("  %s of vulkan", factor(path.over_vulkan).c_str());
        std::printf("\n");
    }
    std::fflush(stdout);
}

/// The selected device, and CUDA in addition to Vulkan if it drives the same GPU.
class ReportDevices {
  public:
    ReportDevices(const DeviceOptions& options, const Config& config) : chosen_(options, config) {
        constexpr std::uint32_t kNvidia = 0x10de;
        const DeviceInfo& device = chosen_.device();
        if (options.backend == "cuda" || !has_cuda() || device.vendor_id != kNvidia || device.uuid.empty())
            return;
        try {
            DeviceOptions by_cuda = options;
            by_cuda.backend = "cuda";
            Config same = config;
            same.device = device.uuid;
            beside_.emplace(by_cuda, same);
        } catch (const std::exception& error) {
            note_ = std::string("CUDA was not measured: ") + error.what() + ".";
        }
    }
    const DeviceInfo& device() const { return chosen_.device(); }
    ReportTargets targets() {
        if (chosen_.backend() == nullptr) return {nullptr, nullptr, &chosen_};
        return {chosen_.backend(), &chosen_, beside_ ? &*beside_ : nullptr};
    }
    const std::string& note() const { return note_; }  ///< why CUDA is not measured too; otherwise empty

  private:
    Target chosen_;
    std::optional<Target> beside_;
    std::string note_;
};

std::vector<ReportPath> paths_of(const ReportTargets& targets) {
    std::vector<ReportPath> paths{ReportPath::cpu};
    if (targets.vulkan != nullptr)
        paths.insert(paths.end(), {ReportPath::ordinary, ReportPath::page_locked, ReportPath::resident});
    if (targets.cuda != nullptr) paths.push_back(ReportPath::cuda);
    return paths;
}

Report begin_report(const std::string& name, const ReportOptions& options, ReportDevices& devices) {
    Report report;
    report.title = "weft profile " + name;
    report.stamp = make_stamp();
    report.version = WEFT_VERSION_STRING;
    const DeviceInfo& device = devices.device();
    const Target* cuda = devices.targets().cuda;
    report.machine = {
        device.name, device.driver, to_string(device.type), device.uuid,
        cpu_name(),  cpu_threads(), options.device.backend, cuda != nullptr ? cuda->device().driver : ""};
    if (const Backend* backend = devices.targets().backend; backend != nullptr)
        report.machine.tuning = backend->plan().tuning.state;
    if (!devices.note().empty()) report.notes.push_back(devices.note());
    report.repeats = options.repeats;
    report.batch_sizes = options.batch_sizes;
    if (device.type == DeviceType::cpu)
        report.notes.push_back(
            "The device is the CPU itself: its figures show the cost of calls, not the speed of a GPU.");
    return report;
}

/// Measures the kernels one after the other and writes the results of each before the next begins. Returns
/// whether it finished, rather than ended by an interrupt.
bool measure_kernels(const ReportTargets& targets, const ReportOptions& options, const ReportKernels& kernels,
                     Report& report, ReportWriter& writer) {
    const FirstInterrupt interrupt(
        "\nweft: interrupted: what is measured so far is written; interrupt again to end now\n");
    RunSettings settings{options.batch_sizes, paths_of(targets), options.repeats, report.machine.threads};
    double weight = 0;
    for (const auto& kernel : kernels) weight += weight_of(*kernel, settings);
    ReportClock clock(options.total_seconds, weight);
    ProgressBar progress("weft profile");
    settings.clock = &clock;
    settings.stop = [&] { return interrupt.noted(); };
    settings.on_figure = [&] {
        progress.show(static_cast<std::size_t>(1000 * clock.done()), 1000, left_text(clock.left_s()));
    };
    report.kernels.reserve(kernels.size());
    for (const auto& kernel : kernels) {
        if (interrupt.noted()) break;
        KernelResult names;
        names.kernel = kernel->name();
        const std::vector<std::string> processes = kernel->processes();
        settings.on_size = [&](const SizeResult& size) {
            progress.hide();
            print(names, processes[size.process], size);
        };
        KernelResult result = run_kernel(targets, *kernel, settings);
        progress.hide();
        if (result.sizes.empty()) continue;  // interrupted before the first result
        report.kernels.push_back(std::move(result));
        if (interrupt.noted())
            report.notes.push_back("The run was interrupted: the report has what was measured until then.");
        writer.add(report.kernels.back());
    }
    return !interrupt.noted();
}

/// Reports how the run ended. Errors: Failure, unless everything succeeded.
void judge(const Report& report, bool complete) {
    const bool any_ran = std::any_of(report.kernels.begin(), report.kernels.end(),
                                     [](const KernelResult& r) { return r.any_ran(); });
    for (const KernelResult& result : report.kernels)
        if (result.any_wrong)
            throw Failure(Exit::failed, "profile: results differ from the CPU's; see the report");
    if (!complete)
        throw Failure(Exit::interrupted, report.kernels.empty()
                                             ? "profile: interrupted before anything was measured"
                                             : "profile: interrupted; the report has what was measured");
    if (!any_ran) throw Failure(Exit::failed, "profile: no size ran on the device; see the report");
}

}  // namespace

void run_report(const std::string& name, const ReportOptions& options, const ReportKernels& kernels) {
    const Config config = options.device.config();
    ReportDevices devices(options.device, config);  // first, because without a device no folder must be made
    require_folder(options.output_dir);
    Report report = begin_report(name, options, devices);
    std::printf("%s: %s; CPU baseline: %s, %u threads\n", report.title.c_str(), report.machine.device.c_str(),
                report.machine.cpu.c_str(), report.machine.threads);
    ReportWriter writer(report, options.output_dir,
                        {.results = true, .plot = !options.no_plot, .combined = name == "all"});
    const bool complete = measure_kernels(devices.targets(), options, kernels, report, writer);
    if (!report.kernels.empty()) writer.finish();
    std::fflush(stdout);
    judge(report, complete);
}

}  // namespace weft::tool
