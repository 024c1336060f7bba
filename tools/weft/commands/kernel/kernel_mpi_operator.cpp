// SPDX-License-Identifier: Apache-2.0
// Completes commands/kernel/kernel_mpi.hpp: weft kernel apply, solve, predict and eigen over ranks. The first
// rank writes the result and the report.
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "cli/progress.hpp"
#include "commands/kernel/kernel_models.hpp"
#include "commands/kernel/kernel_mpi.hpp"
#include "commands/kernel/kernel_mpi_ranks.hpp"
#include "commands/kernel/kernel_reports.hpp"

namespace weft::tool {
namespace {

/// A command on one rank: its inputs, its devices, and memory for the result.
class RankCall {
  public:
    RankCall(mpi::Ranks& ranks, const OperatorArguments& arguments) : ranks_(ranks), arguments_(arguments) {
        told(ranks, [&] {
            if (arguments.explain) throw Failure(Exit::usage, "--explain: not with --mpi");
            if (arguments.out.empty())
                throw Failure(Exit::usage, "-o: needs the file that the result goes to");
            call_.emplace(arguments);
            require_apart({{"output", arguments.out}, {"--checkpoint", arguments.checkpoint}},
                          call_->files());
            target_.emplace(ranks, arguments.device);
        });
        arguments_.ranks = ranks.size();
    }

    /// Makes the result with make(ranks, devices, call, out) and writes it. Returns what `make` does.
    template <class Make>
    auto write(const Shape& shape, const Make& make) {
        const ElementType type = call_->options().type;
        std::unique_ptr<NpyOutput> file;
        std::vector<std::byte> memory;
        std::span<std::byte> bytes;
        told(ranks_, [&] {
            if (ranks_.rank() == 0) {
                file = std::make_unique<NpyOutput>(arguments_.out, type, shape);
                bytes = file->elements<std::byte>();
            } else {
                memory.resize(shape[0] * (shape.size() > 1 ? shape[1] : 1) * type.bytes());
                bytes = memory;
            }
        });
        const HostArray out{bytes.data(), bytes.size() / type.bytes(), type};
        auto report = call_->naming_files([&] { return make(ranks_, target_->devices(), *call_, out); });
        told(ranks_, [&] {
            call_->require_unchanged();
            if (file) file->commit();
        });
        return report;
    }
    mpi::Ranks& ranks() { return ranks_; }
    OperatorCall& call() { return *call_; }
    const OperatorArguments& arguments() const { return arguments_; }
    const DeviceInfo& device() { return target_->device(); }
    bool is_first() const { return ranks_.rank() == 0; }

  private:
    mpi::Ranks& ranks_;
    OperatorArguments arguments_;
    std::optional<OperatorCall> call_;
    std::optional<RankTarget> target_;
};

KernelOperator operator_of(mpi::Ranks& ranks, const mpi::RankDevices& devices, OperatorCall& call) {
    const KernelMatrixCircuit* const circuit = call.circuit();
    const bool square = call.shape().square();
    if (circuit == nullptr && square)
        return mpi::kernel_operator(ranks, devices, call.x(), call.shape(), call.options());
    if (circuit == nullptr)
        return mpi::kernel_operator(ranks, devices, call.x(), call.y(), call.shape(), call.options());
    if (square) return mpi::kernel_operator(ranks, devices, *circuit, call.x(), call.shape(), call.options());
    return mpi::kernel_operator(ranks, devices, *circuit, call.x(), call.y(), call.shape(), call.options());
}

/// Of the first rank; it counts this rank's part.
BatchOptions with_progress(const RankCall& rank, ProgressBar& bar) {
    BatchOptions batch;
    if (rank.is_first()) batch.progress = bar.callback();
    return batch;
}

void apply(RankCall& rank) {
    const OperatorArguments& a = rank.arguments();
    const KernelMatrixShape& shape = rank.call().shape();
    OpReport report = rank.write(
        rank.call().result_shape(a.transpose ? shape.columns() : shape.samples),
        [&](mpi::Ranks& ranks, mpi::RankDevices devices, OperatorCall& call, const HostArray& out) {
            ProgressBar bar("kernel apply");
            return mpi::kernel_apply(
                ranks, devices, operator_of(ranks, devices, call), call.v(), out,
                {.lambda = a.lambda, .transpose = a.transpose, .batch = with_progress(rank, bar)});
        });
    std::uint64_t pairs = 0;
    MPI_Reduce(&report.items, &pairs, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    report.items = pairs;
    if (rank.is_first()) print_report(a, "apply", rank.device(), rank.call(), report);
}

void predict(RankCall& rank) {
    OpReport report = rank.write(
        rank.call().result_shape(rank.call().shape().samples),
        [&](mpi::Ranks& ranks, mpi::RankDevices devices, OperatorCall& call, const HostArray& out) {
            ProgressBar bar("kernel predict");
            if (call.circuit() == nullptr)
                return mpi::kernel_predict(ranks, devices, call.x(), call.y(), call.v(), out, call.shape(),
                                           with_progress(rank, bar));
            return mpi::kernel_predict(ranks, devices, *call.circuit(), call.x(), call.y(), call.v(), out,
                                       call.shape(), with_progress(rank, bar));
        });
    report.items = rank.call().shape().pairs();
    if (rank.is_first()) print_report(rank.arguments(), "predict", rank.device(), rank.call(), report);
}

void solve(RankCall& rank) {
    const OperatorArguments& a = rank.arguments();
    const KernelSolveReport report = rank.write(
        rank.call().result_shape(rank.call().shape().samples),
        [&](mpi::Ranks& ranks, mpi::RankDevices devices, OperatorCall& call, const HostArray& out) {
            ProgressBar bar("kernel solve");
            KernelSolveOptions options = solve_options(a);
            options.batch = with_progress(rank, bar);
            return mpi::kernel_solve(ranks, devices, operator_of(ranks, devices, call), call.v(), out,
                                     options);
        });
    if (!rank.is_first()) return;
    remove_checkpoint(a, report);
    print_solve(a, rank.device(), rank.call(), report);
}

template <class T>
void eigen_of(RankCall& rank) {
    const OperatorArguments& a = rank.arguments();
    std::vector<T> values(a.values);
    const KernelEigenReport report = rank.write(
        {rank.call().shape().samples, a.values},
        [&](mpi::Ranks& ranks, mpi::RankDevices devices, OperatorCall& call, const HostArray& out) {
            ProgressBar bar("kernel eigen");
            KernelEigenOptions options = eigen_options(a);
            options.batch = with_progress(rank, bar);
            return mpi::kernel_eigen(ranks, devices, operator_of(ranks, devices, call), values, out, options);
        });
    if (rank.is_first()) print_eigen(a, rank.device(), rank.call(), report, {values.begin(), values.end()});
}

void eigen(RankCall& rank) {
    told(rank.ranks(), [&] { require_values(rank.arguments(), rank.call()); });
    if (rank.call().options().type == kFloat64)
        eigen_of<double>(rank);
    else
        eigen_of<float>(rank);
}

}  // namespace

void run_over_ranks(const OperatorArguments& arguments, OperatorCommand command) {
    over_ranks([&](mpi::Ranks& ranks) {
        RankCall rank(ranks, arguments);
        switch (command) {
            case OperatorCommand::apply:
                return apply(rank);
            case OperatorCommand::solve:
                return solve(rank);
            case OperatorCommand::predict:
                return predict(rank);
            case OperatorCommand::eigen:
                return eigen(rank);
        }
    });
}

}  // namespace weft::tool
