// SPDX-License-Identifier: Apache-2.0
#include "commands/profile_report.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>

#include <weft/version.hpp>

#include "cli/cuda_calls.hpp"
#include "cli/figures.hpp"
#include "cli/progress.hpp"
#include "cpu/cpu_threads.hpp"
#include "report/report_run.hpp"
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
        if (!path.ran()) {
            std::printf("%-18s %13s  %-11s did not run: %s\n", label.c_str(), grouped(size.batch).c_str(),
                        to_string(path.path), path.failure.c_str());
            continue;
        }
        std::printf("%-18s %13s  %-11s %9s +- %-9s %8s/s", label.c_str(), grouped(size.batch).c_str(),
                    to_string(path.path), duration(path.timing.seconds.median).c_str(),
                    duration(path.timing.seconds.std).c_str(), si(size.per_s(path)).c_str());
        if (path.path != ReportPath::cpu && path.speedup > 0)
            std::printf(" %8s", factor(path.speedup).c_str());
        if (path.over_vulkan > 0) std::printf("  %s of vulkan", factor(path.over_vulkan).c_str());
        std::printf("\n");
    }
    std::fflush(stdout);
}

/// The device that is asked for, and CUDA beside Vulkan where it drives the same GPU.
class Devices {
  public:
    Devices(const DeviceOptions& options, const Config& config) : chosen_(options, config) {
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
    const std::string& note() const { return note_; }  ///< why there is no CUDA beside; else empty

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

Report begin_report(const std::string& name, const ReportOptions& options, Devices& devices) {
    Report report;
    report.title = "weft profile " + name;
    report.stamp = make_stamp();
    report.version = WEFT_VERSION_STRING;
    const DeviceInfo& device = devices.device();
    const Target* cuda = devices.targets().cuda;
    report.machine = {
        device.name, device.driver, to_string(device.type), device.uuid,
        cpu_name(),  cpu_threads(), options.device.backend, cuda != nullptr ? cuda->device().driver : ""};
    if (!devices.note().empty()) report.notes.push_back(devices.note());
    report.repeats = options.repeats;
    report.batch_sizes = options.batch_sizes;
    if (device.type == DeviceType::cpu)
        report.notes.push_back(
            "The device is the CPU itself: its figures tell what calls cost, not what a GPU does.");
    return report;
}

void measure_kernels(const ReportTargets& targets, const ReportOptions& options, const ReportKernels& kernels,
                     Report& report) {
    std::size_t steps = 0, done = 0;
    for (const auto& kernel : kernels) steps += kernel->processes().size() * options.batch_sizes.size();
    ProgressBar progress("weft profile");
    for (const auto& kernel : kernels) {
        KernelResult names;
        names.kernel = kernel->name();
        const std::vector<std::string> processes = kernel->processes();
        report.kernels.push_back(run_kernel(targets, *kernel,
                                            {options.batch_sizes, paths_of(targets), options.repeats,
                                             report.machine.threads, [&](const SizeResult& size) {
                                                 print(names, processes[size.process], size);
                                                 progress.show(++done, steps);
                                             }}));
    }
}

}  // namespace

void run_report(const std::string& name, const ReportOptions& options, const ReportKernels& kernels) {
    const Config config = options.device.config();
    Devices devices(options.device, config);  // first: without a device no folder is made
    require_folder(options.output_dir);
    Report report = begin_report(name, options, devices);
    std::printf("%s: %s; CPU baseline: %s, %u threads\n", report.title.c_str(), report.machine.device.c_str(),
                report.machine.cpu.c_str(), report.machine.threads);
    measure_kernels(devices.targets(), options, kernels, report);

    const bool any_ran = std::any_of(report.kernels.begin(), report.kernels.end(),
                                     [](const KernelResult& r) { return r.any_ran(); });
    write_report(report, options.output_dir,
                 {.results = true, .plot = !options.no_plot, .combined = name == "all"});
    for (const KernelResult& result : report.kernels)
        if (result.any_wrong)
            throw Failure(Exit::failed, "profile: results differ from the CPU's; see the report");
    if (!any_ran) throw Failure(Exit::failed, "profile: no size ran on the device; see the report");
}

}  // namespace weft::tool
