// SPDX-License-Identifier: Apache-2.0
// Ranks that die or hang, and what the others say about them. Completes ranks_cases.hpp.
#include <chrono>
#include <csignal>
#include <functional>
#include <map>
#include <thread>

#include "ranks_cases.hpp"

namespace ranks_test {
namespace {

/// In a solve, after some iterations.
void solve(Ranks& ranks, weft::Backend& backend, const std::filesystem::path&,
           const std::function<void()>& fail) {
    const std::vector<float> x = numbers(300, 0.7), y = numbers(100, 1.1);
    std::vector<float> alpha(100);
    const weft::KernelOperator k = weft::mpi::kernel_operator(ranks, backend, {}, x, {100, 0, 3});
    weft::KernelSolveOptions options{.lambda = 1e-6, .tolerance = 1e-12, .rank = 0};
    options.batch.progress = [&](const weft::Progress& p) {
        if (p.done >= 2) fail();
    };
    weft::mpi::kernel_solve(ranks, backend, k, y, alpha, options);
}

/// When it takes jobs.
void batch(Ranks& ranks, weft::Backend& backend, const std::filesystem::path&,
           const std::function<void()>& fail) {
    const weft::Program program = affine(backend);
    const std::vector<float> in(16, 1.0f);
    std::vector<float> out(16);
    std::vector<weft::Job> jobs(8);
    for (weft::Job& job : jobs) {
        job.inputs.push_back({in.data(), 64});
        job.outputs.push_back({out.data(), 64});
        job.elements = 16;
    }
    // The first rank leaves jobs to the other, however busy the machine is.
    weft::mpi::run_batch(ranks, backend, program, jobs, {.progress = [&](const weft::Progress&) {
                             if (ranks.rank() == 0)
                                 std::this_thread::sleep_for(std::chrono::milliseconds(100));
                             fail();
                         }});
}

/// Before it makes a tile.
void matrix(Ranks& ranks, weft::Backend& backend, const std::filesystem::path& file,
            const std::function<void()>& fail) {
    const std::vector<float> x = numbers(300, 0.7);
    fail();
    weft::mpi::kernel_matrix(ranks, backend, {}, x, file, {100, 0, 3});
}

}  // namespace

void loss(const std::string& name, Run& run) {
    struct Case {
        void (*work)(Ranks&, weft::Backend&, const std::filesystem::path&, const std::function<void()>&);
        int victim, signal;
    };
    const std::map<std::string, Case> cases{{"killed in a solve", {solve, 1, SIGKILL}},
                                            {"first stopped in a solve", {solve, 0, SIGSTOP}},
                                            {"stopped in a batch", {batch, 1, SIGSTOP}},
                                            {"stopped before a matrix", {matrix, 1, SIGSTOP}}};
    const auto [work, victim, signal] = cases.at(name);
    // Compiles what the work needs, which may take longer than the limit below.
    work(run.ranks, run.backend, run.folder / "whole.npy", [] {});
    Ranks ranks(run.communicator, {.timeout_s = 2});
    const auto fail = [&] {
        if (ranks.rank() == victim) kill(getpid(), signal);
    };
    const std::string text =
        text_of_error(weft::Errc::device_lost, [&] { work(ranks, run.backend, run.folder / "k.npy", fail); });
    require(ranks.lost() && has(text, "rank " + std::to_string(victim) + " of 2 has not come within 2 s"),
            "the missing rank has no name");
    std::printf("NAMED\n");
    std::fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 7);
}

}  // namespace ranks_test
