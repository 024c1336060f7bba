// SPDX-License-Identifier: Apache-2.0
// weft tune kernel: measures tiles of the inner products of kernel matrices, and keeps the fastest.
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "cli/number_options.hpp"
#include "cli/print_json.hpp"
#include "cli/progress.hpp"
#include "commands/commands.hpp"
#include "device/device_options.hpp"
#include "measure/report_measure.hpp"

namespace weft::tool {
namespace {

struct TuneKernelArguments {
    std::vector<std::uint64_t> samples;  // empty: chosen by device
    std::vector<std::uint32_t> qubits;
    std::string dtype = "float32";
    int repeats = 5;
    double flops = 0;
    bool states = false, dry_run = false, reset = false, json = false;
    DeviceOptions device;
};

Json json_of(const tune::TileReport& report) {
    Json json{{"products", report.products},
              {"best", report.trials[report.best].tile},
              {"gain", report.gain()},
              {"file", report.file.string()},
              {"trials", Json::array()}};
    for (const tune::TileTrial& trial : report.trials)
        json["trials"].push_back({{"tile", trial.tile},
                                  {"seconds", trial.median_s},
                                  {"scatter", trial.scatter_s},
                                  {"right", trial.right}});
    return json;
}

void print(const tune::TileReport& report) {
    std::printf("%s\n", report.products.c_str());
    for (std::size_t i = 0; i < report.trials.size(); ++i) {
        const tune::TileTrial& trial = report.trials[i];
        const double planned = report.trials[0].median_s;
        const double gain = planned > 0 ? 100 * (1 - trial.median_s / planned) : 0;
        std::printf("  %-16s %10.4f ms +- %.4f%s", trial.tile.c_str(), trial.median_s * 1e3,
                    trial.scatter_s * 1e3, i == 0 ? "  planned" : "");
        if (i != 0 && trial.right) std::printf("  %+.1f %%", gain);
        std::printf("%s%s\n", i == report.best ? "  best" : "",
                    trial.right ? "" : "  WRONG VALUES, left out");
    }
    if (report.best == 0)
        std::printf("  no tile gains 3 %% and more than the scatter: the planned one stays\n");
    else
        std::printf("  %s gains %.1f %% over the planned one\n", report.trials[report.best].tile.c_str(),
                    100 * report.gain());
}

void reset(const TuneKernelArguments& arguments) {
    Backend backend = open_backend(arguments.device.config());
    tune::forget_tiles(backend);
    if (arguments.json)
        print_json({{"device", backend.name()}, {"outcome", "planned tiles again"}});
    else
        std::printf("%s: planned tiles again\n", backend.name().c_str());
}

/// Sizes that were not given. A size that takes a GPU seconds would take a processor minutes.
void choose_sizes(TuneKernelArguments& arguments, DeviceType type) {
    const bool software = type == DeviceType::cpu;
    if (arguments.samples.empty())
        arguments.samples =
            software ? std::vector<std::uint64_t>{256, 1024} : std::vector<std::uint64_t>{256, 1024, 4096};
    if (arguments.qubits.empty())
        arguments.qubits =
            software ? std::vector<std::uint32_t>{6, 8} : std::vector<std::uint32_t>{8, 10, 12};
}

/// Called before anything is measured. Errors: Failure with Exit::usage, as for weft kernel.
void require_fit(const Backend& backend, const KernelMatrixShape& shape, const tune::TileOptions& options) {
    const std::vector<double> weights(2 * std::size_t{shape.qubits});
    const KernelMatrixCircuit circuit{.weights = weights, .reupload = true};
    const ElementType states = options.type == kFloat64 ? kComplex128 : kComplex64;
    const KernelMatrixEstimate plan =
        options.given_states
            ? estimate_kernel_matrix(backend, states, shape, options.type, {.autotune = Choice::off})
            : estimate_kernel_matrix(backend, circuit, shape, options.type, {.autotune = Choice::off});
    if (!plan.streamed_fits)
        throw Failure(Exit::usage, "tune kernel: " + std::to_string(shape.samples) + " states of " +
                                       std::to_string(shape.qubits) + " qubits: K " + plan.reasons.back());
}

/// Shows the progress of one call as part of the calls for all sizes, of which `done` have ended. Both
/// references must outlive it.
ProgressCallback shown_by(ProgressBar& bar, const std::size_t& done, std::size_t sizes) {
    return [&bar, &done, sizes, begin = seconds_now()](const Progress& p) {
        const double part = static_cast<double>(p.done) / static_cast<double>(p.total);
        const double share = (static_cast<double>(done) + part) / static_cast<double>(sizes);
        bar.show(static_cast<std::size_t>(1000 * share), 1000,
                 left_text((seconds_now() - begin) * (1 - share) / share));
    };
}

void run(TuneKernelArguments arguments) {
    const Config config = arguments.device.config();
    static_cast<void>(open_devices(arguments.device, config));
    if (arguments.reset) return reset(arguments);
    if (!config.cache && !arguments.dry_run)
        throw Failure(Exit::usage,
                      "tune kernel: WEFT_CACHE=0 leaves nowhere to keep it (need a cache, or --dry-run)");
    if (!arguments.dry_run && arguments.repeats < 3)
        throw Failure(Exit::usage, "--repeats: too few to keep the result (got " +
                                       std::to_string(arguments.repeats) + ", need 3 or more, or --dry-run)");
    Backend backend = open_backend(config);
    choose_sizes(arguments, backend.device().type);
    tune::TileOptions options;
    options.type = arguments.dtype == "float64" ? kFloat64 : kFloat32;
    options.given_states = arguments.states;
    options.keep = !arguments.dry_run;
    options.repeats = arguments.repeats;
    options.flops = arguments.flops;
    for (const std::uint32_t qubits : arguments.qubits)
        for (const std::uint64_t samples : arguments.samples)
            require_fit(backend, {samples, 0, qubits}, options);
    Json rows = Json::array();
    if (!arguments.json) std::printf("%s, %s\n", backend.name().c_str(), arguments.dtype.c_str());
    std::set<std::string> seen;
    bool kept = true;
    ProgressBar progress("tune kernel");
    std::size_t done = 0;
    options.progress = shown_by(progress, done, arguments.qubits.size() * arguments.samples.size());
    for (const std::uint32_t qubits : arguments.qubits)
        for (const std::uint64_t samples : arguments.samples) {
            for (const tune::TileReport& report :
                 tune::kernel_matrix_tiles(backend, {samples, 0, qubits}, options)) {
                if (!seen.insert(report.products).second) continue;  // two sizes may belong to one class
                kept = kept && !report.file.empty();
                rows.push_back(json_of(report));
                progress.hide();
                if (!arguments.json) print(report);
            }
            ++done;
        }
    if (arguments.json)
        print_json({{"device", backend.name()}, {"dtype", arguments.dtype}, {"classes", rows}});
    else if (arguments.dry_run)
        std::printf("nothing kept (--dry-run)\n");
    if (!arguments.dry_run && !kept)
        throw Failure(Exit::failed,
                      "tune kernel: measured, but not kept: the cache folder cannot be written");
}

}  // namespace

void add_tune_kernel(CLI::App& tune) {
    CLI::App& kernel = *tune.add_subcommand(
        "kernel", "Measure tiles of the inner products of kernel matrices; keep the fastest");
    const auto arguments = std::make_shared<TuneKernelArguments>();
    add_numbers(kernel, "--samples", arguments->samples,
                "Numbers of states; without it 256 1024 4096, on a software device 256 1024",
                {1, std::uint64_t{1} << 20});
    add_numbers(kernel, "--qubits", arguments->qubits,
                "Qubits of a state; without it 8 10 12, on a software device 6 8", {1, 22});
    kernel.add_option("--dtype", arguments->dtype, "Of K and of the arithmetic: float32 or float64")
        ->capture_default_str()
        ->check(CLI::IsMember({"float32", "float64"}));
    kernel.add_flag("--states", arguments->states, "For states that are given, not built from features");
    add_number(kernel, "--repeats", arguments->repeats, "Runs of each tile, 3 or more to keep the result",
               {1, 1000});
    add_number(kernel, "--flops", arguments->flops, "The most operations of a run; 0: the planned size",
               {.least = 0, .text = "0 or more"});
    CLI::Option* dry = kernel.add_flag("--dry-run", arguments->dry_run, "Measure and print, keep nothing");
    kernel.add_flag("--reset", arguments->reset, "Forget what is kept for the device")->excludes(dry);
    kernel.add_flag("--json", arguments->json, "Print JSON");
    arguments->device.add_to(kernel, false, Several::refused);
    kernel.footer("Example: weft tune kernel --samples 4096 --qubits 12,16");
    kernel.callback([arguments] { run(*arguments); });
}

}  // namespace weft::tool
