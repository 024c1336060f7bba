// SPDX-License-Identifier: Apache-2.0
#include "commands/kernel/kernel_mpi.hpp"

#include <cinttypes>
#include <cstdio>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <weft/mpi/distributed.hpp>

#include "cli/figures.hpp"
#include "cli/file_paths.hpp"
#include "cli/print_json.hpp"
#include "cli/progress.hpp"

namespace weft::tool {
namespace {

/// MPI from its start to its end.
class Session {
  public:
    Session() {
        int provided = 0;
        if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
            throw Failure(Exit::failed, "--mpi: MPI does not start");
    }
    ~Session() { MPI_Finalize(); }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
};

/// Errors of the command as errors that ranks tell each other.
template <class Step>
void told(mpi::Ranks& ranks, const Step& step) {
    ranks.together([&] {
        try {
            step();
        } catch (const Failure& failure) {
            const Errc code = failure.exit() == Exit::usage    ? Errc::invalid_argument
                              : failure.exit() == Exit::device ? Errc::no_device
                                                               : Errc::io;
            throw Error(code, failure.what());
        }
    });
}

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
    std::optional<Backend> backend;
    told(ranks, [&] {
        if (arguments.out.empty()) throw Failure(Exit::usage, "-o: needs the file K goes to");
        call.emplace(arguments);
        require_apart({{"output", arguments.out}}, call->files());
        backend.emplace(open_backend(ranks.config(arguments.device.config())));
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
                    return mpi::kernel_matrix(ranks, *backend, x, k, shape, type, options);
                if (circuit == nullptr)
                    return mpi::kernel_matrix(ranks, *backend, x, *y, k, shape, type, options);
                if (y == nullptr)
                    return mpi::kernel_matrix(ranks, *backend, *circuit, x, k, shape, type, options);
                return mpi::kernel_matrix(ranks, *backend, *circuit, x, *y, k, shape, type, options);
            });
    }
    print_report(arguments, ranks, backend->device(), *call, report);
}

/// Ends a rank. Another rank has said already what is wrong with it.
[[noreturn]] void end(const mpi::Ranks& ranks, Exit exit, const std::string& text) {
    if (ranks.lost()) {
        std::fprintf(stderr, "weft: rank %d: %s\n", ranks.rank(), text.c_str());
        MPI_Abort(MPI_COMM_WORLD, static_cast<int>(exit));
    }
    const bool of_another = text.starts_with("rank ");
    throw Failure(exit, of_another ? "" : "rank " + std::to_string(ranks.rank()) + ": " + text);
}

}  // namespace

void run_over_ranks(const KernelArguments& arguments) {
    const Session session;
    mpi::Ranks ranks;
    try {
        make(ranks, arguments);
    } catch (const Failure& failure) {
        end(ranks, failure.exit(), failure.what());
    } catch (const Error& error) {
        end(ranks, exit_of(error), error.what());
    }
}

}  // namespace weft::tool
