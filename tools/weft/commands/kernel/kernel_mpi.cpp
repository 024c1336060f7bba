// SPDX-License-Identifier: Apache-2.0
#include "commands/kernel/kernel_mpi.hpp"

#include <cinttypes>
#include <cstdio>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "cli/figures.hpp"
#include "cli/file_paths.hpp"
#include "cli/print_json.hpp"
#include "cli/progress.hpp"
#include "commands/kernel/kernel_mpi_ranks.hpp"

namespace weft::tool {
namespace {

void print_report(const KernelArguments& arguments, const mpi::Ranks& ranks, const DeviceInfo& device,
                  const KernelCall& call, const OpReport& report) {
    std::vector<std::uint64_t> pairs(static_cast<std::size_t>(ranks.size()));
    MPI_Gather(&report.items, 1, MPI_UINT64_T, pairs.data(), 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (ranks.rank() != 0) return;
    const auto all = static_cast<double>(std::accumulate(pairs.begin(), pairs.end(), std::uint64_t{0}));
    if (arguments.json) {
        print_json({{"samples", call.shape().samples},
                    {"columns", call.shape().columns()},
                    {"qubits", call.shape().qubits},
                    {"method", report.method},
                    {"device", device.name},
                    {"seconds", report.wall_s},
                    {"pairs_per_s", all / report.wall_s},
                    {"ranks", ranks.size()},
                    {"rank_pairs", pairs}});
        return;
    }
    std::printf("kernel: %" PRIu64 " x %" PRIu64 ", %u qubits, by %s, over %d ranks, in %.6f s, %s, %s\n",
                call.shape().samples, call.shape().columns(), call.shape().qubits, report.method.c_str(),
                ranks.size(), report.wall_s, si(all / report.wall_s, "pairs/s").c_str(), device.name.c_str());
    for (std::size_t rank = 0; rank < pairs.size(); ++rank)
        std::printf("  rank %zu: %.0f %%\n", rank, 100 * static_cast<double>(pairs[rank]) / all);
}

void make(mpi::Ranks& ranks, const KernelArguments& arguments) {
    std::optional<KernelCall> call;
    std::optional<RankTarget> target;
    told(ranks, [&] {
        if (arguments.out.empty()) throw Failure(Exit::usage, "-o: needs the file K goes to");
        call.emplace(arguments);
        require_apart({{"output", arguments.out}}, call->files());
        target.emplace(ranks, arguments.device);
    });
    OpReport report;
    {
        ProgressBar progress("kernel");
        if (ranks.rank() == 0)
            call->options().batch.progress = [&](const Progress& p) {
                progress.show(p.done, p.total, " " + duration(p.remaining_s()) + " left");
            };
        const std::filesystem::path k = destination(arguments.out);
        report = call->run(
            [&](const KernelMatrixCircuit* circuit, const ConstHostArray& x, const ConstHostArray* y) {
                const KernelMatrixShape& shape = call->shape();
                const ElementType type = call->type();
                const KernelMatrixHostOptions& options = call->options();
                if (circuit == nullptr && y == nullptr)
                    return mpi::kernel_matrix(ranks, target->devices(), x, k, shape, type, options);
                if (circuit == nullptr)
                    return mpi::kernel_matrix(ranks, target->devices(), x, *y, k, shape, type, options);
                if (y == nullptr)
                    return mpi::kernel_matrix(ranks, target->devices(), *circuit, x, k, shape, type, options);
                return mpi::kernel_matrix(ranks, target->devices(), *circuit, x, *y, k, shape, type, options);
            });
    }
    print_report(arguments, ranks, target->device(), *call, report);
}

}  // namespace

void run_over_ranks(const KernelArguments& arguments) {
    over_ranks([&](mpi::Ranks& ranks) { make(ranks, arguments); });
}

}  // namespace weft::tool
