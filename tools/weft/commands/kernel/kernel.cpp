// SPDX-License-Identifier: Apache-2.0
// weft kernel: rows of features, or states, into a quantum kernel matrix.
#include <cinttypes>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "cli/figures.hpp"
#include "cli/file_paths.hpp"
#include "cli/number_options.hpp"
#include "cli/print_json.hpp"
#include "cli/progress.hpp"
#include "commands/commands.hpp"
#include "commands/fit.hpp"
#include "commands/kernel/kernel_call.hpp"
#include "commands/kernel/kernel_mpi.hpp"
#include "commands/kernel/kernel_output.hpp"
#include "device/cuda_calls.hpp"
#include "device/device_options.hpp"
#include "device/device_rows.hpp"

namespace weft::tool {
namespace {

/// Samples that fit: on the device by the plan, and in memory K with everything that is read or made in
/// addition.
struct KernelRoom {
    std::uint64_t on_device = 0, in_memory = 0;
};

// Doubles in addition to K: eigenvectors and a copy, as clip_kernel_matrix documents.
std::uint64_t host_bytes(const KernelArguments& arguments, const KernelCall& call, std::uint64_t samples) {
    const std::uint64_t columns = arguments.y.empty() ? samples : call.shape().columns();
    return samples * columns * (call.type().bytes() + (arguments.post.clip ? 16u : 0u));
}

KernelRoom room_of(const KernelArguments& arguments, const KernelCall& call, const Backend& backend) {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 28;  // K with that many rows has 2^56 values
    const std::uint64_t memory = memory_of_machine();
    return {
        largest_that_fits(kMost, [&](std::uint64_t n) { return call.estimate(backend, n).streamed_fits; }),
        largest_that_fits(kMost, [&](std::uint64_t n) { return host_bytes(arguments, call, n) <= memory; })};
}

std::string rate_text(const Progress& progress) {
    return " " + si(progress.per_s(), "pairs/s") + ", " + duration(progress.remaining_s()) + " left";
}

Json plan_json(const KernelCall& call, const KernelMatrixEstimate& plan) {
    const bool planned = plan.streamed_bytes != 0;  // otherwise there is no figure to report
    return {{"samples", call.shape().samples},
            {"columns", call.shape().columns()},
            {"qubits", call.shape().qubits},
            {"pairs", plan.pairs},
            {"method", to_string(plan.method)},
            {"layers_that_matter", plan.layers},
            {"arithmetic", plan.float64 ? "float64" : "float32"},
            {"state_tile", plan.state_tile},
            {"bulk_states", plan.bulk_states},
            {"state_builds", plan.state_builds},
            {"error", planned ? Json(plan.error) : Json()},
            {"gram_method", plan.gram_method},
            {"tile", plan.tile},
            {"tile_choice", plan.tile_choice},
            {"states_bytes", plan.states_bytes},
            {"matrix_bytes", plan.matrix_bytes},
            {"device_bytes", planned ? Json(plan.streamed_bytes) : Json()},
            {"available_bytes", plan.available_bytes},
            {"state_flops", plan.state_flops},
            {"pair_flops", plan.pair_flops},
            {"fits", plan.streamed_fits},
            {"reasons", plan.reasons}};
}

void explain(const KernelArguments& arguments, const DeviceInfo& device, const KernelCall& call,
             const KernelMatrixEstimate& plan, const KernelRoom& room) {
    const std::uint64_t memory = host_bytes(arguments, call, call.shape().samples);
    if (arguments.json) {
        Json json = plan_json(call, plan);
        json["host_bytes"] = memory;
        json["host_memory_bytes"] = memory_of_machine();
        json["most_samples_on_device"] = room.on_device;
        json["most_samples_in_memory"] = room.in_memory;
        json["device"] = device.name;
        print_json(json);
        return;
    }
    const auto size = [](std::uint64_t bytes) { return si(static_cast<double>(bytes), "B"); };
    std::printf("K: %" PRIu64 " x %" PRIu64 ", %u qubits, %" PRIu64 " pairs, %s\n", call.shape().samples,
                call.shape().columns(), call.shape().qubits, plan.pairs, size(plan.matrix_bytes).c_str());
    std::printf("method: %s\n", to_string(plan.method));
    const bool planned = plan.streamed_bytes != 0;
    if (planned)
        std::printf("device memory: %s of %s that may be used\n", size(plan.streamed_bytes).c_str(),
                    size(plan.available_bytes).c_str());
    else
        std::printf("device memory: no plan, of %s that may be used\n", size(plan.available_bytes).c_str());
    std::printf("host memory: %s of %s\n", size(memory).c_str(), size(memory_of_machine()).c_str());
    std::printf("samples that fit%s: %" PRIu64 " on the device, %" PRIu64 " in this machine's memory\n",
                arguments.y.empty() ? "" : " with this Y", room.on_device, room.in_memory);
    if (plan.state_tile != 0)
        std::printf("states: %" PRIu64 " at a time, %s, made %.3g times; tile of products: %s, %s\n",
                    plan.state_tile, plan.bulk_states ? "all of them" : "in tiles", plan.state_builds,
                    plan.tile.c_str(), plan.tile_choice.c_str());
    std::printf("work: %s operations for states, %s for pairs\n", si(plan.state_flops).c_str(),
                si(plan.pair_flops * static_cast<double>(plan.pairs)).c_str());
    if (planned) std::printf("errors: at most %.0e\n", plan.error);
    for (const std::string& reason : plan.reasons) std::printf("  %s\n", reason.c_str());
}

void print_report(const KernelArguments& arguments, const DeviceInfo& device, const KernelCall& call,
                  const KernelMatrixEstimate& plan, const OpReport& report, const KernelPostResult& post,
                  const KernelOutput& out) {
    if (!arguments.json) {
        std::printf("kernel: %" PRIu64 " x %" PRIu64 ", %u qubits, by %s, in %.6f s, %s, %s\n",
                    call.shape().samples, call.shape().columns(), call.shape().qubits, report.method.c_str(),
                    report.wall_s, si(report.items_per_s(), "pairs/s").c_str(), device.name.c_str());
        print_rows(report.devices);
        if (const std::string text = out.text(); !text.empty()) std::printf("%s\n", text.c_str());
        if (const std::string text = post.text(); !text.empty()) std::printf("%s\n", text.c_str());
        return;
    }
    Json json = plan_json(call, plan);
    // The plan is that of one device on Vulkan.
    if (arguments.device.backend == "cuda" || !report.devices.empty())
        json = {{"samples", call.shape().samples},
                {"columns", call.shape().columns()},
                {"qubits", call.shape().qubits},
                {"pairs", report.items},
                {"method", report.method}};
    json["pairs_per_s"] = report.items_per_s();
    if (report.devices.empty() && !arguments.resume) {  // neither several devices nor a store have times
        json["states_s"] = report.states_s;
        json["product_s"] = report.product_s;
    }
    out.add_to(json);
    post.add_to(json);
    add_run(json, report, device);
    print_json(json);
}

void run(const KernelArguments& arguments) {
    if (arguments.mpi) return run_over_ranks(arguments);
    const Config config = arguments.device.config();
    if (arguments.out.empty() && !arguments.explain)
        throw Failure(Exit::usage, "-o: needs the file K goes to");
    if (arguments.explain) arguments.device.require_planned();
    KernelCall call(arguments);
    const KernelLabels labels(arguments.post, call.shape().samples);
    std::vector<NamedFile> inputs = call.files();
    inputs.insert(inputs.end(), labels.files().begin(), labels.files().end());
    require_apart({{"output", arguments.out}, {"WEFT_TRACE", config.trace}}, inputs);
    Target target(arguments.device, config);
    KernelMatrixEstimate plan;  // for Vulkan only
    if (target.backend() != nullptr)
        plan = target.first_that_fits([&](const Backend& backend) { return call.estimate(backend); },
                                      [](const KernelMatrixEstimate& e) { return e.streamed_fits; });
    if (arguments.explain)
        return explain(arguments, target.backend()->device(), call, call.estimate(*target.backend()),
                       room_of(arguments, call, *target.backend()));
    if (target.backend() != nullptr && !plan.streamed_fits)
        throw Failure(Exit::usage, "K " + plan.reasons.back());
    KernelOutput out(arguments, call);
    OpReport report;
    {
        ProgressBar progress("kernel");
        call.options().batch.progress = [&](const Progress& p) {
            progress.show(p.done, p.total, rate_text(p));
        };
        report = out.make(call, target);
    }
    call.require_unchanged();
    const KernelPostResult post = apply(arguments.post, labels, out.values(), call.shape().samples);
    out.commit();
    print_report(arguments, target.device(), call, plan, report, post, out);
}

void add_memory_options(CLI::App& kernel, KernelArguments& arguments) {
    add_number(kernel, "--tile", arguments.tile, "States made at a time, 1 or more; -1: planned",
               {.least = -1, .text = "1 or more, or -1"});
    kernel
        .add_option("--bulk-states", arguments.bulk_states,
                    "Make all states once: auto (if they fit), on or off")
        ->capture_default_str()
        ->type_name("MODE")
        ->check(CLI::IsMember({"auto", "on", "off"}));
    kernel.add_flag("--no-autotune", arguments.no_autotune,
                    "Neither use nor measure tiles of this device: those planned");
    add_number(kernel, "--vram-fraction", arguments.vram_fraction,
               "Of the device's free memory that may be used",
               {std::numeric_limits<double>::denorm_min(), 1, "above 0, at most 1"});
}

}  // namespace

void add_kernel(CLI::App& command) {
    CLI::App& kernel =
        *command.add_subcommand("kernel", "Quantum kernel matrices of rows of numbers or of states");
    const auto arguments = std::make_shared<KernelArguments>();
    kernel
        .add_option(
            "X", arguments->x,
            "Rows of K, (samples, qubits) float32 or float64: .npy, .npz, FILE.h5:/PATH, or a table named "
            ".csv, .tsv or .txt")
        ->type_name("FILE");
    kernel.add_option("Y", arguments->y, "Columns of K, as X; left out: those of X")->type_name("FILE");
    kernel.add_option("-o,--output", arguments->out, "K, (samples, columns); replaced if it is there")
        ->type_name("FILE.npy");
    arguments->circuit.add_to(kernel);
    kernel
        .add_option("--dtype", arguments->dtype,
                    "Of K: float32 or float64. Arithmetic is float64 if K is, or if --states are complex128")
        ->capture_default_str()
        ->type_name("NAME")
        ->check(CLI::IsMember({"float32", "float64"}));
    add_normalize(kernel, arguments->normalize, arguments->jitter);
    arguments->post.add_to(kernel);
    add_memory_options(kernel, *arguments);
    kernel.add_flag(
        "--resume", arguments->resume,
        "Keep finished tiles of K beside it, in FILE.part and FILE.tiles, and continue with those "
        "which a run that ended early has left");
    kernel.add_flag("--mpi", arguments->mpi,
                    "Share the work among the ranks of mpirun, each with a device of its own");
    kernel.add_flag("--explain", arguments->explain,
                    "Print how K would be made, what it takes, and how many samples fit; make nothing");
    kernel.add_flag("--json", arguments->json, "Print the report as JSON");
    arguments->device.add_to(kernel, true, Several::shared);
    kernel.footer("Example: weft kernel x.npy -o k.npy --map ryrz --weights w.npy --reupload");
    add_kernel_operators(kernel);
    kernel.callback([arguments, &kernel] {
        if (!kernel.get_subcommands().empty()) return;
        if (arguments->x.empty()) throw Failure(Exit::usage, "X is required (see weft kernel --help)");
        run(*arguments);
    });
}

}  // namespace weft::tool
