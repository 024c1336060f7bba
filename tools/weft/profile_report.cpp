// SPDX-License-Identifier: Apache-2.0
#include "profile_report.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>

#include <weft/version.hpp>

#include "cpu_threads.hpp"
#include "cuda_calls.hpp"
#include "figures.hpp"
#include "progress.hpp"
#include "report_files.hpp"
#include "report_findings.hpp"
#include "report_run.hpp"
#include "text_file.hpp"

namespace weft::tool {
namespace {

namespace fs = std::filesystem;

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

/// Writes the files of a report, and keeps their names in it.
class Writer {
  public:
    Writer(Report& report, std::string folder, bool plot)
        : report_(report), folder_(std::move(folder)), plot_(plot) {}

    void write(const std::string& what, const std::string& extension, const std::string& text) {
        const std::string name = what + "_" + report_.stamp + "." + extension;
        write_text_file((fs::path(folder_) / name).string(), text);
        report_.files.push_back(name);
    }
    /// `script` makes the text for the name of a picture.
    template <class Script>
    void draw(const std::string& what, Script&& script) {
        if (!plot_) return;
        const std::string picture = what + "_" + report_.stamp + ".png";
        write(what, "gp", script(picture));
        const fs::path file = fs::absolute(fs::path(folder_) / report_.files.back());
        const std::string failure = run_gnuplot(folder_, file.string());
        std::error_code error;
        if (failure.empty() && fs::exists(fs::path(folder_) / picture, error)) {
            report_.files.push_back(picture);
            return;
        }
        fs::remove(fs::path(folder_) / picture, error);
        const std::string note = "No picture " + picture + ": " +
                                 (failure.empty() ? "gnuplot wrote none" : failure) +
                                 "; its script is there.";
        report_.notes.push_back(note);
        std::printf("%s\n", note.c_str());
    }

  private:
    Report& report_;
    std::string folder_;
    bool plot_;
};

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
    report.stamp = make_stamp(options.output_dir);
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
    Progress progress("weft profile");
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
    require_folder(options.output_dir);
    Devices devices(options.device, config);
    Report report = begin_report(name, options, devices);
    std::printf("%s: %s; CPU baseline: %s, %u threads\n", report.title.c_str(), report.machine.device.c_str(),
                report.machine.cpu.c_str(), report.machine.threads);
    measure_kernels(devices.targets(), options, kernels, report);

    Writer writer(report, options.output_dir, !options.no_plot);
    for (const KernelResult& result : report.kernels) {
        writer.write(result.kernel + "_results", "json", json_text(report, result));
        writer.write(result.kernel + "_summary", "csv", csv_text(report, result));
        if (result.any_ran())
            writer.draw(result.kernel + "_profile",
                        [&](const std::string& picture) { return plot_script(report, result, picture); });
    }
    const bool any_ran = std::any_of(report.kernels.begin(), report.kernels.end(),
                                     [](const KernelResult& r) { return r.any_ran(); });
    if (name == "all" && any_ran)
        writer.draw("all_profile",
                    [&](const std::string& picture) { return combined_script(report, picture); });
    report.files.push_back("summary_report_" + report.stamp + ".md");
    write_text_file((fs::path(options.output_dir) / report.files.back()).string(), markdown_text(report));

    std::printf("\n");
    for (const KernelResult& result : report.kernels)
        for (const std::string& finding : findings(result)) std::printf("%s\n", finding.c_str());
    std::printf("\nwritten to %s:\n", options.output_dir.c_str());
    for (const std::string& file : report.files) std::printf("  %s\n", file.c_str());
    for (const KernelResult& result : report.kernels)
        if (result.any_wrong)
            throw Failure(Exit::failed, "profile: results differ from the CPU's; see the report");
    if (!any_ran) throw Failure(Exit::failed, "profile: no size ran on the device; see the report");
}

}  // namespace weft::tool
