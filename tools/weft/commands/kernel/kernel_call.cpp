// SPDX-License-Identifier: Apache-2.0
#include "commands/kernel/kernel_call.hpp"

#include <optional>

#include "cli/map_name.hpp"
#include "cli/number_options.hpp"

namespace weft::tool {
namespace {

constexpr ElementType kStates[] = {kComplex128, kComplex64};

/// Rows of `columns` values; 0: of any number of values.
std::unique_ptr<ArrayInput> open_table_of(const std::string& path, Types types, const char* what,
                                          std::uint64_t columns = 0, const std::string& as = "") {
    auto input = std::make_unique<ArrayInput>(path, types);
    const Shape& shape = input->shape();
    const std::uint64_t values = input->source().values();
    if (shape.size() != 2) {
        const std::string text = "wrong shape (got " + to_string(shape) + ", need " + std::string(what) + ")";
        if (shape.size() > 2) input->refuse(text, ".reshape(" + std::to_string(shape[0]) + ", -1)");
        if (columns > 1 && values % columns == 0)
            input->refuse(text, ".reshape(-1, " + std::to_string(columns) + ")");
        // One value per row, unless rows of one value cannot be states.
        input->refuse(text, types.front().kind == ElementKind::complex || columns == values
                                ? ".reshape(1, -1)"
                                : ".reshape(-1, 1)");
    }
    if (columns == 0 || shape[1] == columns) return input;
    const std::string text = "wrong number of columns (got " + std::to_string(shape[1]) + ", need the " +
                             std::to_string(columns) + " of " + as + ")";
    if (shape[0] == columns) input->refuse(text, ".T");
    input->refuse(text);
}

std::string check_map(const std::string& name) try {
    map_named(name);
    return {};
} catch (const Error&) {
    return "no such map (got " + name + ", need angle, ry or ryrz)";
}

Choice bulk_choice(const std::string& name) {
    return name == "on" ? Choice::on : name == "off" ? Choice::off : Choice::automatic;
}

/// The same arguments, once they were found to fit each other.
const KernelArguments& consistent_matrix(const KernelArguments& arguments) {
    const auto refuse = [](const char* what) { throw Failure(Exit::usage, what); };
    arguments.circuit.require_consistent();
    if (arguments.jitter != 0 && !arguments.normalize) refuse("--jitter: goes with --normalize");
    if (arguments.jitter != 0 && !arguments.y.empty())
        refuse("--jitter: of the diagonal, which K of X with Y has none of (leave it out)");
    if (arguments.post.wanted() && !arguments.y.empty())
        refuse("--center, --clip, --alignment, --polarity: of a square K (leave out Y, or these options)");
    if (arguments.mpi && (arguments.resume || arguments.explain || arguments.post.wanted()))
        refuse("--mpi: not with --resume, --explain, --center, --clip, --alignment or --polarity");
    if (arguments.mpi && arguments.device.backend == "cuda")
        refuse("--mpi: not with --backend cuda (leave one out)");
    if (arguments.resume && arguments.explain) refuse("--resume: --explain makes nothing (leave one out)");
    if (arguments.resume && arguments.device.backend == "cuda")
        refuse("--resume: not with --backend cuda (leave one out)");
    if (arguments.tile == 0)
        refuse("--tile: out of range (got 0, need 1 or more, or -1; see weft kernel --help)");
    return arguments;
}

std::unique_ptr<ArrayInput> open_samples(const std::string& path, bool states,
                                         const ArrayInput* like = nullptr) {
    const ElementType same[] = {like != nullptr ? like->type() : kFloat64};
    const Types types = like != nullptr ? Types(same) : states ? Types(kStates) : Types(kNumbers);
    auto input = open_table_of(path, types, states ? "(samples, 2^qubits)" : "(samples, qubits)",
                               like != nullptr ? like->shape()[1] : 0, like != nullptr ? like->path() : "");
    const std::uint64_t columns = input->shape()[1];
    if (columns > 0xffffffffu) input->refuse("too many columns (got " + std::to_string(columns) + ")");
    if (input->source().values() == 0)
        input->refuse("empty (got " + to_string(input->shape()) + ", need rows and columns)");
    return input;
}

std::uint32_t qubits_of(const ArrayInput& samples, bool states) {
    const std::uint64_t columns = samples.shape()[1];
    if (!states) return static_cast<std::uint32_t>(columns);
    std::uint32_t qubits = 0;
    while (qubits < 63 && std::uint64_t{1} << qubits < columns) ++qubits;
    if (qubits == 0 || std::uint64_t{1} << qubits != columns)
        samples.refuse("no states (got rows of " + std::to_string(columns) +
                       ", need a power of two, 2 or more)");
    return qubits;
}

}  // namespace

void CircuitArguments::add_to(CLI::App& command) {
    command.add_option("--map", map, "Embedding of a row: angle, ry or ryrz")
        ->default_str("ryrz")
        ->type_name("NAME")
        ->check(CLI::Validator(check_map, ""));
    add_number(command, "--scale", scale, "Factor of all features", {.text = "a finite number"});
    command.add_option("--weights", weights, "Layers of the circuit, (layers, qubits) float32 or float64")
        ->type_name("FILE");
    command.add_flag("--reupload", reupload, "Embed the row again before every layer");
    command.add_flag("--states", states, "Rows hold states, (samples, 2^qubits) complex64 or complex128");
}

void CircuitArguments::require_consistent() const {
    if (states && (!map.empty() || !weights.empty() || reupload || scale != 1))
        throw Failure(Exit::usage,
                      "--states: given states have no circuit (leave out --map, --weights, --reupload, "
                      "--scale)");
    if (reupload && weights.empty()) throw Failure(Exit::usage, "--reupload: needs the layers' --weights");
}

void add_normalize(CLI::App& command, bool& normalize, double& jitter) {
    command.add_flag("--normalize", normalize, "Divide by the roots of the diagonal");
    add_number(command, "--jitter", jitter, "Added to the diagonal that --normalize divides by",
               {.least = 0, .text = "0 or more"});
}

KernelMatrixCircuit CircuitArguments::circuit() const {
    return {map_named(map.empty() ? "ryrz" : map), {}, reupload, scale};
}

CircuitInputs::CircuitInputs(const CircuitArguments& arguments, const std::string& of_x,
                             const std::string& of_y)
    : x(open_samples(of_x, arguments.states)),
      shape{x->shape()[0], 0, qubits_of(*x, arguments.states)},
      circuit(arguments.circuit()),
      states(arguments.states) {
    if (!of_y.empty()) {
        y = open_samples(of_y, states, x.get());
        shape.others = y->shape()[0];
    }
    if (!arguments.weights.empty()) {
        weights = open_table_of(arguments.weights, kNumbers, "(layers, qubits)", shape.qubits, of_x);
        circuit.weights = weights->array();
    }
}

KernelCall::KernelCall(const KernelArguments& arguments)
    : inputs_(consistent_matrix(arguments).circuit, arguments.x, arguments.y), json_(arguments.json) {
    type_ = arguments.dtype == "float64" ? kFloat64 : kFloat32;
    options_.state_tile = arguments.tile;
    if (arguments.no_autotune) options_.autotune = Choice::off;
    options_.bulk_states = bulk_choice(arguments.bulk_states);
    options_.vram_fraction = arguments.vram_fraction;
    options_.normalize = arguments.normalize;
    options_.jitter = arguments.jitter;
    require_states_for(arguments);
}

// Options about states are refused for circuits in closed form, as the library does, but by flag.
void KernelCall::require_states_for(const KernelArguments& arguments) const {
    const std::uint64_t layers = inputs_.weights ? inputs_.weights->shape()[0] : 0;
    if (inputs_.states || (arguments.circuit.reupload && layers > 1)) return;
    const auto refuse = [](const std::string& flag) {
        throw Failure(Exit::usage,
                      flag +
                          ": this circuit has a closed form, which makes no states (leave it out; "
                          "--reupload with two layers or more makes states)");
    };
    if (arguments.tile != -1) refuse("--tile");
    if (options_.bulk_states == Choice::on) refuse("--bulk-states");
}

std::vector<NamedFile> KernelCall::files() const {
    std::vector<NamedFile> all = inputs_.x->source().files("X");
    const auto add = [&](const std::unique_ptr<ArrayInput>& input, const char* role) {
        if (!input) return;
        for (NamedFile& file : input->source().files(role)) all.push_back(std::move(file));
    };
    add(inputs_.y, "Y");
    add(inputs_.weights, "--weights");
    return all;
}

// The library names its arguments, and the user knows files.
template <class Call>
auto KernelCall::naming_files(const Call& call) const try {
    return call();
} catch (const Error& error) {
    const std::string_view text = error.what();
    const std::pair<std::string_view, const ArrayInput*> arrays[] = {
        {"kernel_matrix: x: ", inputs_.x.get()},
        {"kernel_matrix: y: ", inputs_.y.get()},
        {"kernel_matrix: weights: ", inputs_.weights.get()}};
    for (const auto& [begin, input] : arrays)
        if (input != nullptr && text.starts_with(begin))
            input->refuse(std::string(text.substr(begin.size())));
    throw;
}

KernelMatrixEstimate KernelCall::estimate(const Backend& backend, const KernelMatrixShape& shape) const {
    const KernelMatrixHostOptions& o = options_;
    const KernelMatrixOptions options{o.state_tile,    o.autotune,  o.bulk_states,
                                      o.vram_fraction, o.normalize, o.jitter};
    return naming_files([&] {
        if (!inputs_.states) return estimate_kernel_matrix(backend, inputs_.circuit, shape, type_, options);
        return estimate_kernel_matrix(backend, inputs_.x->type(), shape, type_, options);
    });
}

KernelMatrixEstimate KernelCall::estimate(const Backend& backend, std::uint64_t samples) const {
    return estimate(backend, {samples, shape().others, shape().qubits});
}

OpReport KernelCall::run(Target& target, const HostArray& k) {
    // Neither CUDA nor several devices report device times.
    if (json_ && target.size() == 1) options_.batch.stage_times = Choice::on;
    return run_into(target, k);
}

OpReport KernelCall::run(Target& target, KernelMatrixStore& k) {
    return run_into(target, k);
}

OpReport KernelCall::run(const Make& make) const {
    const ConstHostArray x = inputs_.x->array();
    std::optional<ConstHostArray> y;
    if (inputs_.y) y = inputs_.y->array();
    return naming_files([&] { return make(inputs_.circuit_or_null(), x, y ? &*y : nullptr); });
}

template <class Matrix>
OpReport KernelCall::run_into(Target& target, Matrix& k) {
    const ConstHostArray x = inputs_.x->array();
    std::optional<ConstHostArray> y;
    if (inputs_.y) y = inputs_.y->array();
    return naming_files([&] {
        if (inputs_.states) return target.kernel_matrix(x, y ? &*y : nullptr, k, shape(), options_);
        return target.kernel_matrix(inputs_.circuit, x, y ? &*y : nullptr, k, shape(), options_);
    });
}

void KernelCall::require_unchanged() const {
    for (const auto* input : {&inputs_.x, &inputs_.y, &inputs_.weights})
        if (*input) (*input)->require_unchanged();
}

}  // namespace weft::tool
