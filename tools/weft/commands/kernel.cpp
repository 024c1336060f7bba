// SPDX-License-Identifier: Apache-2.0
// weft kernel: rows of features, or states, into a quantum kernel matrix.
#include <cinttypes>
#include <complex>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include <weft/weft.hpp>

#include "arrays/npy.hpp"
#include "cli/cuda_calls.hpp"
#include "cli/device_options.hpp"
#include "cli/figures.hpp"
#include "cli/file_paths.hpp"
#include "cli/map_name.hpp"
#include "cli/number_options.hpp"
#include "cli/print_json.hpp"
#include "cli/progress.hpp"
#include "commands/commands.hpp"

namespace weft::tool {
template <>
inline constexpr const char* kDescr<c32> = "<c8";
template <>
inline constexpr const char* kDescr<c64> = "<c16";

namespace {

struct KernelArguments {
    std::string x, y, out, weights;
    std::string map, dtype = "float32", bulk_states = "auto";
    bool reupload = false, states = false, normalize = false, no_autotune = false, explain = false,
         json = false;
    double scale = 1, jitter = 0, vram_fraction = 0.85;
    std::int64_t tile = -1;
    DeviceOptions device;
};

/// One call, whichever of its forms the arguments ask for.
struct KernelCall {
    std::unique_ptr<NpyInput> x, y, weights;
    KernelMatrixShape shape;
    KernelMatrixCircuit circuit;
    KernelMatrixHostOptions options;
    ElementType type = kFloat32;
    bool states = false;
};

std::string check_map(const std::string& name) try {
    map_named(name);
    return {};
} catch (const Error&) {
    return "no such map (got " + name + ", need angle, ry or ryrz)";
}

ConstHostArray numbers_of(NpyInput& input) {
    if (input.header().descr == "<f4") return ConstHostArray(input.elements<float>());
    if (input.header().descr == "<f8") return ConstHostArray(input.elements<double>());
    input.refuse("wrong type (got " + input.header().descr + ", need <f4 or <f8)");
}

ConstHostArray states_of(NpyInput& input) {
    if (input.header().descr == "<c8") return ConstHostArray(input.elements<c32>());
    if (input.header().descr == "<c16") return ConstHostArray(input.elements<c64>());
    input.refuse("wrong type (got " + input.header().descr + ", need <c8 or <c16 for --states)");
}

void require_table(const NpyInput& input, const char* what) {
    if (input.shape().size() != 2)
        input.refuse("wrong shape (got " + to_string(input.shape()) + ", need " + what + ")");
}

std::uint32_t qubits_of_states(const NpyInput& input) {
    const std::uint64_t amplitudes = input.shape()[1];
    std::uint32_t qubits = 0;
    while (qubits < 63 && std::uint64_t{1} << qubits < amplitudes) ++qubits;
    if (qubits == 0 || std::uint64_t{1} << qubits != amplitudes)
        input.refuse("no states (got rows of " + std::to_string(amplitudes) +
                     ", need a power of two, 2 or more)");
    return qubits;
}

Choice bulk_choice(const std::string& name) {
    return name == "on" ? Choice::on : name == "off" ? Choice::off : Choice::automatic;
}

void read_inputs(KernelCall& call, const KernelArguments& arguments) {
    const char* const shape = arguments.states ? "(samples, 2^qubits)" : "(samples, qubits)";
    call.x = std::make_unique<NpyInput>(arguments.x);
    require_table(*call.x, shape);
    const std::uint64_t columns = call.x->shape()[1];
    if (columns > 0xffffffffu) call.x->refuse("too many columns (got " + std::to_string(columns) + ")");
    call.shape = {call.x->shape()[0], 0,
                  arguments.states ? qubits_of_states(*call.x) : static_cast<std::uint32_t>(columns)};
    if (call.shape.samples == 0 || columns == 0)
        call.x->refuse("empty (got " + to_string(call.x->shape()) + ", need rows and columns)");
    // Other types are refused before a device is asked for.
    if (arguments.states)
        static_cast<void>(states_of(*call.x));
    else
        static_cast<void>(numbers_of(*call.x));
    if (!arguments.y.empty()) {
        call.y = std::make_unique<NpyInput>(arguments.y);
        require_table(*call.y, shape);
        if (call.y->shape()[1] != columns)
            call.y->refuse("wrong number of columns (got " + std::to_string(call.y->shape()[1]) +
                           ", need the " + std::to_string(columns) + " of " + arguments.x + ")");
        if (call.y->header().descr != call.x->header().descr)
            call.y->refuse("wrong type (got " + call.y->header().descr + ", need " + call.x->header().descr +
                           " as " + arguments.x + ")");
        call.shape.others = call.y->shape()[0];
        if (call.shape.others == 0) call.y->refuse("empty (got no rows)");
    }
    if (arguments.weights.empty()) return;
    call.weights = std::make_unique<NpyInput>(arguments.weights);
    require_table(*call.weights, "(layers, qubits)");
    if (call.weights->shape()[1] != call.shape.qubits)
        call.weights->refuse("wrong number of columns (got " + std::to_string(call.weights->shape()[1]) +
                             ", need the " + std::to_string(call.shape.qubits) + " of " + arguments.x + ")");
    call.circuit.weights = numbers_of(*call.weights);
}

KernelCall make_call(const KernelArguments& arguments) {
    if (arguments.states &&
        (!arguments.map.empty() || !arguments.weights.empty() || arguments.reupload || arguments.scale != 1))
        throw Failure(Exit::usage,
                      "--states: given states have no circuit (leave out --map, --weights, "
                      "--reupload, --scale)");
    if (arguments.reupload && arguments.weights.empty())
        throw Failure(Exit::usage, "--reupload: needs the layers' --weights");
    if (arguments.jitter != 0 && !arguments.normalize)
        throw Failure(Exit::usage, "--jitter: goes with --normalize");
    if (arguments.jitter != 0 && !arguments.y.empty())
        throw Failure(Exit::usage,
                      "--jitter: of the diagonal, which K of X with Y has none of (leave it out)");
    if (arguments.tile == 0)
        throw Failure(Exit::usage,
                      "--tile: out of range (got 0, need 1 or more, or -1; see weft kernel --help)");
    KernelCall call;
    call.states = arguments.states;
    call.circuit = {
        map_named(arguments.map.empty() ? "ryrz" : arguments.map), {}, arguments.reupload, arguments.scale};
    read_inputs(call, arguments);
    call.type = arguments.dtype == "float64" ? kFloat64 : kFloat32;
    call.options.state_tile = arguments.tile;
    if (arguments.no_autotune) call.options.autotune = Choice::off;
    // CUDA reports no device times.
    if (arguments.json && arguments.device.backend != "cuda") call.options.batch.stage_times = Choice::on;
    call.options.bulk_states = bulk_choice(arguments.bulk_states);
    call.options.vram_fraction = arguments.vram_fraction;
    call.options.normalize = arguments.normalize;
    call.options.jitter = arguments.jitter;
    return call;
}

KernelMatrixEstimate estimate_of(const Backend& backend, KernelCall& call) {
    const KernelMatrixHostOptions& o = call.options;
    const KernelMatrixOptions options{o.state_tile,    o.autotune,  o.bulk_states,
                                      o.vram_fraction, o.normalize, o.jitter};
    if (!call.states) return estimate_kernel_matrix(backend, call.circuit, call.shape, call.type, options);
    return estimate_kernel_matrix(backend, states_of(*call.x).type, call.shape, call.type, options);
}

OpReport run_call(Target& target, KernelCall& call, const HostArray& k) {
    if (call.states) {
        std::optional<ConstHostArray> y;
        if (call.y) y = states_of(*call.y);
        return target.kernel_matrix(states_of(*call.x), y ? &*y : nullptr, k, call.shape, call.options);
    }
    std::optional<ConstHostArray> y;
    if (call.y) y = numbers_of(*call.y);
    return target.kernel_matrix(call.circuit, numbers_of(*call.x), y ? &*y : nullptr, k, call.shape,
                                call.options);
}

std::string rate_text(const Progress& progress) {
    return " " + si(progress.per_s(), "pairs/s") + ", " + duration(progress.remaining_s()) + " left";
}

Json plan_json(const KernelCall& call, const KernelMatrixEstimate& plan) {
    const bool planned = plan.streamed_bytes != 0;  // else there is no figure to report
    return {{"samples", call.shape.samples},
            {"columns", call.shape.columns()},
            {"qubits", call.shape.qubits},
            {"pairs", plan.pairs},
            {"method", to_string(plan.method)},
            {"layers_that_matter", plan.layers},
            {"arithmetic", plan.float64 ? "float64" : "float32"},
            {"state_tile", plan.state_tile},
            {"bulk_states", plan.bulk_states},
            {"state_builds", plan.state_builds},
            {"error", planned ? Json(plan.error) : Json()},
            {"form", plan.gram_method},
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
             const KernelMatrixEstimate& plan) {
    if (arguments.json) {
        Json json = plan_json(call, plan);
        json["device"] = device.name;
        print_json(json);
        return;
    }
    const auto size = [](std::uint64_t bytes) { return si(static_cast<double>(bytes), "B"); };
    std::printf("K: %" PRIu64 " x %" PRIu64 ", %u qubits, %" PRIu64 " pairs, %s\n", call.shape.samples,
                call.shape.columns(), call.shape.qubits, plan.pairs, size(plan.matrix_bytes).c_str());
    std::printf("method: %s\n", to_string(plan.method));
    const bool planned = plan.streamed_bytes != 0;
    if (planned)
        std::printf("device memory: %s of %s that may be used\n", size(plan.streamed_bytes).c_str(),
                    size(plan.available_bytes).c_str());
    else
        std::printf("device memory: no plan, of %s that may be used\n", size(plan.available_bytes).c_str());
    if (plan.state_tile != 0)
        std::printf("states: %" PRIu64 " at a time, %s, made %.3g times; tile of products: %s, %s\n",
                    plan.state_tile, plan.bulk_states ? "all of them" : "in tiles", plan.state_builds,
                    plan.tile.c_str(), plan.tile_choice.c_str());
    std::printf("work: %.3g operations for states, %.3g for pairs\n", plan.state_flops,
                plan.pair_flops * static_cast<double>(plan.pairs));
    if (planned) std::printf("errors: at most %.0e\n", plan.error);
    for (const std::string& reason : plan.reasons) std::printf("  %s\n", reason.c_str());
}

void print_report(const KernelArguments& arguments, const DeviceInfo& device, const KernelCall& call,
                  const KernelMatrixEstimate& plan, const OpReport& report) {
    if (!arguments.json) {
        std::printf("kernel: %" PRIu64 " x %" PRIu64 ", %u qubits, by %s, in %.6f s, %s, %s\n",
                    call.shape.samples, call.shape.columns(), call.shape.qubits, report.method.c_str(),
                    report.wall_s, si(report.items_per_s(), "pairs/s").c_str(), device.name.c_str());
        return;
    }
    Json json = plan_json(call, plan);
    if (arguments.device.backend == "cuda")
        json = {{"samples", call.shape.samples},
                {"columns", call.shape.columns()},
                {"qubits", call.shape.qubits},
                {"pairs", report.items},
                {"method", report.method}};
    json["pairs_per_s"] = report.items_per_s();
    json["states_s"] = report.states_s;
    json["product_s"] = report.product_s;
    add_run(json, report, device);
    print_json(json);
}

void run(const KernelArguments& arguments) {
    const Config config = arguments.device.config();
    if (arguments.out.empty() && !arguments.explain)
        throw Failure(Exit::usage, "-o: needs the file K goes to");
    require_apart({{"output", arguments.out}, {"WEFT_TRACE", config.trace}},
                  {{"X", arguments.x}, {"Y", arguments.y}, {"--weights", arguments.weights}});
    if (arguments.explain) arguments.device.require_planned();
    KernelCall call = make_call(arguments);
    Target target(arguments.device, config);
    KernelMatrixEstimate plan;  // of Vulkan alone
    if (target.backend() != nullptr) plan = estimate_of(*target.backend(), call);
    if (arguments.explain) return explain(arguments, target.device(), call, plan);
    if (target.backend() != nullptr && !plan.streamed_fits)
        throw Failure(Exit::usage, "K " + plan.reasons.back());
    ProgressBar progress("kernel");
    call.options.batch.progress = [&](const Progress& p) { progress.show(p.done, p.total, rate_text(p)); };
    const bool wide = call.type == kFloat64;
    NpyOutput out(arguments.out, wide ? "<f8" : "<f4", {call.shape.samples, call.shape.columns()},
                  call.shape.values() * call.type.bytes());
    const std::span<std::byte> bytes = out.elements<std::byte>();
    const OpReport report = run_call(target, call, {bytes.data(), call.shape.values(), call.type});
    for (const auto* input : {&call.x, &call.y, &call.weights})
        if (*input) (*input)->require_unchanged();
    out.commit();
    print_report(arguments, target.device(), call, plan, report);
}

void add_circuit_options(CLI::App& kernel, KernelArguments& arguments) {
    kernel.add_option("--map", arguments.map, "Embedding of a row: angle, ry or ryrz")
        ->default_str("ryrz")
        ->type_name("NAME")
        ->check(CLI::Validator(check_map, ""));
    kernel
        .add_option("--weights", arguments.weights,
                    "Layers of the circuit, (layers, qubits) float32 or float64")
        ->type_name("W.npy");
    kernel.add_flag("--reupload", arguments.reupload, "Embed the row again before every layer");
    add_number(kernel, "--scale", arguments.scale, "Factor of all features", {.text = "a finite number"});
    kernel.add_flag("--states", arguments.states,
                    "X and Y hold states, (samples, 2^qubits) complex64 or complex128");
}

void add_memory_options(CLI::App& kernel, KernelArguments& arguments) {
    add_number(kernel, "--tile", arguments.tile, "States made at a time, 1 or more; -1: planned",
               {.least = -1, .text = "1 or more, or -1"});
    kernel
        .add_option("--bulk-states", arguments.bulk_states,
                    "Make all states once: auto (where they fit), on or off")
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
    kernel.add_option("X", arguments->x, "Rows of K, (samples, qubits) float32 or float64")
        ->required()
        ->type_name("X.npy");
    kernel.add_option("Y", arguments->y, "Columns of K, as X; left out: those of X")->type_name("Y.npy");
    kernel.add_option("-o,--output", arguments->out, "K, (samples, columns); replaced if it is there")
        ->type_name("K.npy");
    add_circuit_options(kernel, *arguments);
    kernel
        .add_option("--dtype", arguments->dtype,
                    "Of K: float32 or float64. Arithmetic is float64 if K is, or if --states are complex128")
        ->capture_default_str()
        ->type_name("NAME")
        ->check(CLI::IsMember({"float32", "float64"}));
    kernel.add_flag("--normalize", arguments->normalize, "Divide by the roots of the diagonal");
    add_number(kernel, "--jitter", arguments->jitter, "Added to the diagonal that --normalize divides by",
               {.least = 0, .text = "0 or more"});
    add_memory_options(kernel, *arguments);
    kernel.add_flag("--explain", arguments->explain,
                    "Print how K would be made and what it takes; make nothing");
    kernel.add_flag("--json", arguments->json, "Print the report as JSON");
    arguments->device.add_to(kernel, true);
    kernel.footer("Example: weft kernel x.npy -o k.npy --map ryrz --weights w.npy --reupload");
    kernel.callback([arguments] { run(*arguments); });
}

}  // namespace weft::tool
