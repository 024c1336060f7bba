// SPDX-License-Identifier: Apache-2.0
// weft profile ntt, encode, kernel, lattice and all: the options of each kernel.
#include <algorithm>

#include "cli/failure.hpp"
#include "cli/lists.hpp"
#include "cli/map_name.hpp"
#include "cli/number_options.hpp"
#include "commands/field/field_values.hpp"
#include "commands/lattice/lattice_options.hpp"
#include "commands/profile/profile_report.hpp"

namespace weft::tool {
namespace {

constexpr const char* kKernel = "Kernel";
constexpr NttOrder kOrders[] = {NttOrder::nn, NttOrder::nr, NttOrder::rn};

std::vector<EncodeMethod> parse_methods(const std::string& text) {
    return list_of(text, [](const std::string& name) { return encode_method(name); });
}

std::string check_methods(const std::string& text) try {
    parse_methods(text);
    return {};
} catch (const Error&) {
    return "no such method (got " + text + ", need some of amplitude, angle, basis, phase, iqp, iqp-z)";
}

NttOrder order_named(const std::string& name) {
    const NttOrder* const found = std::find_if(std::begin(kOrders), std::end(kOrders),
                                               [&](NttOrder order) { return name == to_string(order); });
    if (found == std::end(kOrders))
        throw CLI::ValidationError("no such order (got " + name + ", need some of nn, nr, rn)");
    return *found;
}

/// --field and --log-size.
void add_ntt_size(CLI::App& command, std::string& field, NttChoice& choice) {
    add_field_name(command, field)->group(kKernel);
    add_number(command, "--log-size", choice.log_size, "A transform has 2^this elements, 1 to 30", {1, 30})
        ->group(kKernel);
}

/// Errors: Failure with Exit::usage - a field without transforms, or without those of this size.
NttChoice with_field(NttChoice choice, const std::string& field) {
    choice.field = *find_field(field);
    try {
        static_cast<void>(ntt_root(choice.field, choice.log_size));
    } catch (const Error& error) {
        throw Failure(Exit::usage, error.what());
    }
    return choice;
}

void add_qubits(CLI::App& command, EncodeChoice& choice) {
    add_number(command, "--qubits", choice.qubits, "Qubits of a state, 1 to 30", {1, 30})->group(kKernel);
}

void add_encode(CLI::App& command, EncodeChoice& choice) {
    command
        .add_option_function<std::string>(
            "--method", [&choice](const std::string& text) { choice.methods = parse_methods(text); },
            "amplitude, angle, basis, phase, iqp, iqp-z; several with commas between")
        ->default_str("amplitude,angle,iqp")
        ->type_name("M,M,..")
        ->group(kKernel)
        ->check(CLI::Validator(check_methods, ""));
    add_qubits(command, choice);
    command
        .add_option_function<std::string>(
            "--values", [&choice](const std::string& text) { choice.float64 = text == "float64"; },
            "float32 or float64")
        ->default_str("float32")
        ->type_name("TYPE")
        ->group(kKernel)
        ->check(CLI::IsMember({"float32", "float64"}).description(""));
    command
        .add_flag("--keep-states", choice.keep_states,
                  "States stay on the device: from host memory come values alone, 64 samples at a time")
        ->group(kKernel);
}

struct LatticeChoice {
    LatticeCode code{.packed = true};
    bool bytes = false;

    void add_to(CLI::App& command) {
        for (CLI::Option* option : add_code(command, code, "--levels,--M")) option->group(kKernel);
        add_beta(command, code)->group(kKernel);
        command.add_flag("--bytes", bytes, "A byte a digit instead of as few bits as it needs")
            ->group(kKernel);
    }
    LatticeCode full() const {
        LatticeCode all = code;
        all.packed = !bytes;
        return all;
    }
};

struct MatrixChoice {
    KernelMatrixChoice choice;

    void add_to(CLI::App& command) {
        add_number(command, "--layers", choice.layers,
                   "Layers of the circuits with re-upload, of the processes layers and states, 2 to 16",
                   {2, 16})
            ->group(kKernel);
        command
            .add_option_function<std::string>(
                "--map", [this](const std::string& text) { choice.map = map_named(text); },
                "angle, ry or ryrz")
            ->default_str("ryrz")
            ->type_name("NAME")
            ->group(kKernel)
            ->check(CLI::IsMember({"angle", "ry", "ryrz"}).description(""));
    }
    KernelMatrixChoice with(std::uint32_t qubits) const {
        KernelMatrixChoice all = choice;
        all.qubits = qubits;
        return all;
    }
};

struct AllChoices {
    ReportOptions report;
    std::string field = "bls12-381-fp";
    NttChoice ntt;
    EncodeChoice encode;
    LatticeChoice lattice;
    MatrixChoice matrix;
};

}  // namespace

void add_profile_ntt(CLI::App& profile) {
    CLI::App& command = *profile.add_subcommand(
        "ntt", "Report: forward transforms by number, compared with the CPU and the ceilings");
    const auto all = std::make_shared<AllChoices>();
    all->field = "goldilocks";
    add_ntt_size(command, all->field, all->ntt);
    command
        .add_option_function<std::string>(
            "--orders", [all](const std::string& text) { all->ntt.orders = list_of(text, order_named); },
            "nn, nr, rn: natural or bit-reversed order of input and output; several with commas between")
        ->default_str("nr,nn")
        ->type_name("O,O,..")
        ->group(kKernel);
    all->report.add_to(command);
    command.footer(
        "Example: weft profile ntt --log-size 20 --batch-sizes 1,10,100\n"
        "Example: weft profile ntt --field bn254-fr --log-size 16 --orders nr --batch-sizes 1,64");
    command.callback([all] {
        ReportKernels kernels;
        kernels.push_back(report_ntt(with_field(all->ntt, all->field)));
        run_report("ntt", all->report, kernels);
    });
}

void add_profile_encode(CLI::App& profile) {
    CLI::App& command =
        *profile.add_subcommand("encode", "Report: encoders by size, compared with the CPU and the ceilings");
    const auto all = std::make_shared<AllChoices>();
    add_encode(command, all->encode);
    all->report.add_to(command);
    command.footer(
        "Example: weft profile encode --method angle --qubits 12 --batch-sizes 1,100,10000\n"
        "Example: weft profile encode --method amplitude --qubits 16 --values float64 --keep-states "
        "--batch-sizes 6400");
    command.callback([all] {
        ReportKernels kernels;
        kernels.push_back(report_encode(all->encode));
        run_report("encode", all->report, kernels);
    });
}

void add_profile_kernel(CLI::App& profile) {
    CLI::App& command = *profile.add_subcommand(
        "kernel", "Report: kernel matrices by size, compared with the CPU and the ceilings");
    const auto all = std::make_shared<AllChoices>();
    all->matrix.add_to(command);
    add_qubits(command, all->encode);
    all->report.add_to(command);
    command.footer("Example: weft profile kernel --qubits 10 --batch-sizes 10,100,1000");
    command.callback([all] {
        ReportKernels kernels;
        kernels.push_back(report_kernel_matrix(all->matrix.with(all->encode.qubits)));
        run_report("kernel", all->report, kernels);
    });
}

void add_profile_lattice(CLI::App& profile) {
    CLI::App& command = *profile.add_subcommand(
        "lattice", "Report: lattice codes by size, compared with the CPU and the ceilings");
    const auto all = std::make_shared<AllChoices>();
    all->lattice.add_to(command);
    all->report.add_to(command);
    command.footer(
        "Example: weft profile lattice --lattice E8 --q 4 --batch-sizes 1000,1000000 --output-dir report");
    command.callback([all] {
        ReportKernels kernels;
        kernels.push_back(report_lattice(all->lattice.full()));
        run_report("lattice", all->report, kernels);
    });
}

void add_profile_all(CLI::App& profile) {
    CLI::App& command =
        *profile.add_subcommand("all", "Report on all kernels, with a picture of them together");
    const auto all = std::make_shared<AllChoices>();
    add_field_name(command, all->field)->group(kKernel);
    add_encode(command, all->encode);
    all->lattice.add_to(command);
    all->matrix.add_to(command);
    all->report.add_to(command);
    command.footer("Example: weft profile all --batch-sizes 1,1000,1000000 --output-dir report");
    command.callback([all] {
        ReportKernels kernels;
        kernels.push_back(report_field({.field = *find_field(all->field)}));
        kernels.push_back(report_encode(all->encode));
        kernels.push_back(report_kernel_matrix(all->matrix.with(all->encode.qubits)));
        kernels.push_back(report_lattice(all->lattice.full()));
        run_report("all", all->report, kernels);
    });
}

}  // namespace weft::tool
