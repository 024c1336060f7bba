// SPDX-License-Identifier: Apache-2.0
// weft kernel apply, solve, predict, eigen: kernel matrices that are never stored.
#include "commands/kernel/kernel_models.hpp"

#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <weft/weft.hpp>

#include "cli/number_options.hpp"
#include "cli/progress.hpp"
#include "commands/commands.hpp"
#include "commands/kernel/kernel_call.hpp"
#include "commands/kernel/kernel_mpi.hpp"
#include "commands/kernel/kernel_reports.hpp"

namespace weft::tool {
namespace {

constexpr Bounds<double> kAboveZero{std::numeric_limits<double>::denorm_min(),
                                    std::numeric_limits<double>::max(), "above 0"};

weft::HostArray values_of(const NpyOutput& file, ElementType type) {
    const std::span<std::byte> bytes = file.elements<std::byte>();
    return {bytes.data(), bytes.size() / type.bytes(), type};
}

/// What all four commands do before their own work. Returns the target, or nothing if --explain was all.
std::optional<Target> begin(const OperatorArguments& arguments, OperatorCall& call, std::uint32_t vectors) {
    const Config config = arguments.device.config();
    if (arguments.out.empty() && !arguments.explain)
        throw Failure(Exit::usage, "-o: needs the file that the result goes to");
    require_apart(
        {{"output", arguments.out}, {"--checkpoint", arguments.checkpoint}, {"WEFT_TRACE", config.trace}},
        call.files());
    std::optional<Target> target(std::in_place, arguments.device, config);
    if (!arguments.explain) return target;
    print_plan(arguments, call, vectors, *target);
    return std::nullopt;
}

void run_apply(const OperatorArguments& arguments) {
    if (arguments.mpi) return run_over_ranks(arguments, OperatorCommand::apply);
    OperatorCall call(arguments);
    std::optional<Target> target = begin(arguments, call, call.columns());
    if (!target) return;
    const std::uint64_t rows = arguments.transpose ? call.shape().columns() : call.shape().samples;
    NpyOutput out(arguments.out, call.options().type, call.result_shape(rows));
    const OpReport report = call.naming_files([&] {
        ProgressBar progress("kernel apply");
        KernelApplyHostOptions options{.lambda = arguments.lambda, .transpose = arguments.transpose};
        options.batch.progress = progress.callback();
        return target->apply(call.inputs(), call.v(), values_of(out, call.options().type), options);
    });
    call.require_unchanged();
    out.commit();
    print_report(arguments, "apply", target->device(), call, report);
}

void run_predict(const OperatorArguments& arguments) {
    if (arguments.mpi) return run_over_ranks(arguments, OperatorCommand::predict);
    OperatorCall call(arguments);
    std::optional<Target> target = begin(arguments, call, call.columns());
    if (!target) return;
    NpyOutput out(arguments.out, call.options().type, call.result_shape(call.shape().samples));
    const OpReport report = call.naming_files([&] {
        ProgressBar progress("kernel predict");
        BatchOptions batch;
        batch.progress = progress.callback();
        return target->predict(call.inputs(), call.v(), values_of(out, call.options().type), batch);
    });
    call.require_unchanged();
    out.commit();
    print_report(arguments, "predict", target->first_device(), call, report);
}

}  // namespace

KernelSolveOptions solve_options(const OperatorArguments& arguments) {
    KernelSolveOptions options{.lambda = arguments.lambda,
                               .tolerance = arguments.tolerance,
                               .max_iterations = arguments.max_iterations,
                               .rank = arguments.rank,
                               .seed = arguments.seed,
                               .checkpoint = arguments.checkpoint,
                               .resume = arguments.resume};
    if (arguments.every) options.checkpoint_every = *arguments.every;
    return options;
}

void remove_checkpoint(const OperatorArguments& arguments, const KernelSolveReport& report) {
    // What has not converged may be continued with more iterations.
    std::error_code ignored;
    if (report.converged && !arguments.checkpoint.empty())
        std::filesystem::remove(arguments.checkpoint, ignored);
}

namespace {

void run_solve(const OperatorArguments& arguments) {
    if (arguments.mpi) return run_over_ranks(arguments, OperatorCommand::solve);
    OperatorCall call(arguments);
    std::optional<Target> target = begin(arguments, call, call.columns());
    if (!target) return;
    NpyOutput out(arguments.out, call.options().type, call.result_shape(call.shape().samples));
    const KernelSolveReport report = call.naming_files([&] {
        ProgressBar progress("kernel solve");
        KernelSolveOptions options = solve_options(arguments);
        options.batch.progress = progress.callback();
        return target->solve(call.inputs(), call.v(), values_of(out, call.options().type), options);
    });
    call.require_unchanged();
    out.commit();
    remove_checkpoint(arguments, report);
    print_solve(arguments, target->device(), call, report);
}

}  // namespace

KernelEigenOptions eigen_options(const OperatorArguments& arguments) {
    return {.tolerance = arguments.tolerance, .max_products = arguments.max_products, .seed = arguments.seed};
}

void require_values(const OperatorArguments& arguments, const OperatorCall& call) {
    if (arguments.values > call.shape().samples)
        throw Failure(Exit::usage, "-k: more values than rows (got " + std::to_string(arguments.values) +
                                       ", need at most " + std::to_string(call.shape().samples) + ")");
}

namespace {

template <class T>
void run_eigen_of(const OperatorArguments& arguments, OperatorCall& call, Target& target) {
    std::vector<T> values(arguments.values);
    NpyOutput out(arguments.out, call.options().type, {call.shape().samples, arguments.values});
    const KernelEigenReport report = call.naming_files([&] {
        ProgressBar progress("kernel eigen");
        KernelEigenOptions options = eigen_options(arguments);
        options.batch.progress = progress.callback();
        return target.eigen(call.inputs(), values, values_of(out, call.options().type), options);
    });
    call.require_unchanged();
    out.commit();
    print_eigen(arguments, target.device(), call, report, {values.begin(), values.end()});
}

void run_eigen(const OperatorArguments& arguments) {
    if (arguments.mpi) return run_over_ranks(arguments, OperatorCommand::eigen);
    OperatorCall call(arguments);
    require_values(arguments, call);
    std::optional<Target> target = begin(arguments, call, arguments.values);
    if (!target) return;
    if (call.options().type == kFloat64)
        run_eigen_of<double>(arguments, call, *target);
    else
        run_eigen_of<float>(arguments, call, *target);
}

void add_file(CLI::App& command, const char* name, std::string& file, const std::string& text) {
    command.add_option(name, file, text + ": " + kTableFiles)->required()->type_name("FILE");
}

using RunModel = void (*)(const OperatorArguments&);

/// A command with the options that all four have. `dtype`: what is used without --dtype.
CLI::App& add_command(CLI::App& kernel, const char* name, const char* summary, const char* dtype,
                      const std::shared_ptr<OperatorArguments>& arguments, RunModel run) {
    CLI::App& command = *kernel.add_subcommand(name, summary);
    command.add_option("-o,--output", arguments->out, "Result; replaced if it is there")
        ->type_name("FILE.npy");
    arguments->circuit.add_to(command);
    command
        .add_option(
            "--dtype", arguments->dtype,
            std::string("Of the arithmetic and of the result: float32 or float64; left out: ") + dtype)
        ->type_name("NAME")
        ->check(CLI::IsMember({"float32", "float64"}));
    command.add_flag("--explain", arguments->explain,
                     "Print how a product would be made and what it takes; make nothing");
    command.add_flag("--mpi", arguments->mpi,
                     "Share the work among the ranks of mpirun, each with devices of its own");
    command.add_flag("--json", arguments->json, "Print the report as JSON");
    arguments->device.add_to(command, true, Several::shared);
    command.callback([arguments, run, &kernel] {
        for (const CLI::Option* option : kernel.get_options())
            if (option->count() != 0)
                throw Failure(Exit::usage, "options and files of a subcommand come after its name (got " +
                                               option->get_name() + " before it)");
        run(*arguments);
    });
    return command;
}

void add_apply(CLI::App& kernel) {
    const auto a = std::make_shared<OperatorArguments>();
    CLI::App& command = add_command(kernel, "apply", "Multiplies K with the columns of V; K is never stored",
                                    "that of V", a, run_apply);
    add_file(command, "X", a->x, "Rows of K, (samples, qubits)");
    add_file(command, "V", a->v, "What K is multiplied with, (columns of K,) or (columns of K, 1 to 64)");
    command.add_option("--y", a->y, "Columns of K, as X; left out: those of X")->type_name("FILE");
    command.add_flag("--transpose", a->transpose, "Multiply with the transpose of K");
    add_number(command, "--lambda", a->lambda, "Added to the diagonal of K", {.text = "a finite number"});
    add_normalize(command, a->normalize, a->jitter);
    command.footer("Example: weft kernel apply x.npy v.npy -o kv.npy");
}

void add_solve(CLI::App& kernel) {
    const auto a = std::make_shared<OperatorArguments>();
    a->lambda = 1e-3;
    a->v_role = "y";
    CLI::App& command = add_command(kernel, "solve", "Ridge regression: alpha with (K + lambda I) alpha = y",
                                    "that of y", a, run_solve);
    add_file(command, "X", a->x, "Rows of K, (samples, qubits)");
    add_file(command, "y", a->v, "Targets, (samples,) or (samples, 1 to 64)");
    add_number(command, "--lambda", a->lambda, "Added to the diagonal of K", kAboveZero);
    add_number(command, "--tolerance", a->tolerance, "Of the residual, relative to y",
               {std::numeric_limits<double>::denorm_min(), 1 - 1e-16, "above 0, below 1"});
    add_number(command, "--max-iterations", a->max_iterations, "Of the conjugate gradients", {});
    add_number(command, "--rank", a->rank,
               "Of the preconditioner, which takes 4 bytes x samples x rank of host memory; 0: none", {});
    add_number(command, "--seed", a->seed, "Of the choice of the preconditioner's rows", {});
    command
        .add_option("--checkpoint", a->checkpoint,
                    "Keep the state of the solve here, until alpha is written and has converged")
        ->type_name("FILE");
    add_number_or_none(command, "--every", a->every,
                       "Iterations between two states that --checkpoint keeps; left out: " +
                           std::to_string(KernelSolveOptions().checkpoint_every),
                       {.least = 1, .text = "1 or more"});
    command.add_flag("--resume", a->resume, "Continue from the state that --checkpoint has, if it is there");
    add_normalize(command, a->normalize, a->jitter);
    command.footer("Example: weft kernel solve x.npy y.npy --lambda 1e-3 -o alpha.npy");
}

void add_predict(CLI::App& kernel) {
    const auto a = std::make_shared<OperatorArguments>();
    a->x_role = "X_NEW", a->y_role = "X", a->v_role = "ALPHA";
    CLI::App& command =
        add_command(kernel, "predict", "Predictions K(X_NEW, X) alpha of a model, for any number of rows",
                    "that of alpha", a, run_predict);
    add_file(command, "X_NEW", a->x, "Rows to predict for, (rows, qubits), of the type of X");
    add_file(command, "X", a->y, "Rows that the model was fitted to, (samples, qubits)");
    add_file(command, "ALPHA", a->v, "What weft kernel solve wrote, (samples,) or (samples, 1 to 64)");
    command.footer("Example: weft kernel predict x_new.npy x.npy alpha.npy -o y.npy");
}

void add_eigen(CLI::App& kernel) {
    const auto a = std::make_shared<OperatorArguments>();
    CLI::App& command = add_command(kernel, "eigen", "The largest eigenvalues of K, and their vectors",
                                    "float32", a, run_eigen);
    add_file(command, "X", a->x, "Rows of K, (samples, qubits)");
    add_number(command, "-k,--values", a->values, "How many",
               {1, kMostEigenvalues, "1 to " + std::to_string(kMostEigenvalues)});
    add_number(command, "--tolerance", a->tolerance, "Of the residuals, in units of the largest eigenvalue",
               kAboveZero);
    add_number(command, "--max-products", a->max_products, "With a block of vectors",
               {.least = 1, .text = "1 or more"});
    add_number(command, "--seed", a->seed, "Of the first block", {});
    add_normalize(command, a->normalize, a->jitter);
    command.footer("Example: weft kernel eigen x.npy -k 10 -o vectors.npy");
}

}  // namespace

void add_kernel_operators(CLI::App& kernel) {
    add_apply(kernel);
    add_solve(kernel);
    add_predict(kernel);
    add_eigen(kernel);
}

}  // namespace weft::tool
